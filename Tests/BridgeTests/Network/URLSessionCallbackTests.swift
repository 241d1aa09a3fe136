import Foundation
import MigrationExamplesSupport
import TaskOperations
import TaskOperationsBridge
import TaskOperationsTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("URLSession through an operation for completion handlers", .inTurns, .prompt, .endsInTime)
struct URLSessionCallbackTests {
    private let queue = TaskOperationQueue(name: "downloads", maxConcurrentOperationCount: 2)
    private let body = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 17) })

    /// - Parameter timeout: The timeout of the session in seconds. On Linux, the timeout of a request has no effect.
    private func session(timeout: TimeInterval = 3600) -> URLSession {
        let configuration = URLSessionConfiguration.patient
        configuration.timeoutIntervalForRequest = timeout
        let handlers = BridgedOperationQueue(name: "handlers", maxConcurrentOperationCount: 1)
        return URLSession(configuration: configuration, delegate: nil, delegateQueue: handlers)
    }

    /// The wrapper that a migrated code base needs only once.
    private func download(_ url: URL, with session: URLSession) -> TaskOperation<Data> {
        queue.addOperation(name: url.path) { completion in
            let task = session.dataTask(with: url) { data, response, error in
                if let status = (response as? HTTPURLResponse)?.statusCode, status >= 400 {
                    return completion(throwing: URLError(.badServerResponse))
                }
                completion(data, error)
            }
            completion.onCancel { _ in session.cancel(task) }
            task.resume()
        }
    }

    @Test("downloads are complete, within the width, and their dependents get the data")
    func downloads() async throws {
        let server = try LoopbackServer(["/file": .body(body, pieces: 5, delay: .milliseconds(1))])
        let session = session()
        let downloads = (0..<6).map { _ in download(server.url("/file"), with: session) }
        let counts = downloads.map { queue.addOperation(after: $0) { $0.count } }
        for count in counts { #expect(try await count.value == body.count) }
        for item in downloads { #expect(try await item.value == body) }
        #expect(server.events.events.filter { $0 == .requested("/file") }.count == 6)
    }

    @Test("cancelling the operation in the middle cancels the download, and the server loses its client")
    func cancelInTheMiddle() async throws {
        let server = try LoopbackServer(["/stalled": .stalled(body)])
        let operation = download(server.url("/stalled"), with: session())
        await until { server.events.events.contains(.requested("/stalled")) }
        operation.cancel()
        let error = await #expect(throws: URLError.self) { try await operation.value }
        #expect(error?.code == .cancelled)
        await until { server.events.events.contains(.clientLeft("/stalled")) }
    }

    @Test("a failure of the server fails the operation, and operations that need its value do not run")
    func failure() async throws {
        let server = try LoopbackServer(["/failure": .body(Data(), status: 503)])
        let operation = download(server.url("/failure"), with: session())
        let dependent = queue.addOperation(after: operation) { _ in Issue.record("ran without its input") }
        let error = await #expect(throws: URLError.self) { try await operation.value }
        #expect(error?.code == .badServerResponse)
        let missing = await #expect(throws: TaskOperationError.self) { try await dependent.value }
        guard case .dependencyFailed(_, _, is URLError) = missing else {
            Issue.record("\(String(describing: missing))")
            return
        }
    }

    @Test("a connection that breaks in the middle fails the operation")
    func brokenConnection() async throws {
        let server = try LoopbackServer(["/broken": .broken(body)])
        await #expect(throws: URLError.self) { try await download(server.url("/broken"), with: session()).value }
    }

    @Test("a server that does not answer in time fails the operation with an error that says so")
    func timeout() async throws {
        let server = try LoopbackServer(["/silence": .silence])
        let operation = download(server.url("/silence"), with: session(timeout: 1))
        let error = await #expect(throws: URLError.self) { try await operation.value }
        #expect(error?.code == .timedOut)
    }
}
