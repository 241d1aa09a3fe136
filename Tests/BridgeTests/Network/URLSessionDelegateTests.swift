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

@Suite("URLSession with a bridged queue as its delegate queue", .inTurns, .prompt, .endsInTime)
struct URLSessionDelegateTests {
    private let queue = BridgedOperationQueue(name: "delegate", maxConcurrentOperationCount: 1)
    private let body = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })

    /// Runs a task of a session, and returns after its delegate was told of the end.
    ///
    ///
    /// - Parameter timeout: The timeout of the session in seconds. On Linux, the timeout of a request has no effect.
    private func load(_ url: URL, delegate: SessionDelegate, timeout: TimeInterval = 3600) async -> URLResponse? {
        let configuration = URLSessionConfiguration.patient
        configuration.timeoutIntervalForRequest = timeout
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: queue)
        #expect(session.delegateQueue === queue)
        let task = session.dataTask(with: url)
        task.resume()
        await delegate.ended.waitForArrivals(1)
        delegate.ended.open()
        session.finishTasksAndInvalidate()
        return task.response
    }

    @Test("a download in pieces is complete, and the delegate is called on the queue, one call at a time")
    func download() async throws {
        let server = try LoopbackServer(["/file": .body(body, pieces: 20, delay: .milliseconds(1))])
        let delegate = SessionDelegate(on: queue)
        let response = await load(server.url("/file"), delegate: delegate)
        #expect((response as? HTTPURLResponse)?.statusCode == 200)
        #expect(delegate.error == nil)
        #expect(delegate.data == body)
        #expect(delegate.meter.most == 1)
        #expect(delegate.places.events.allSatisfy { $0 })
    }

    @Test("cancelled in the middle, it ends with that error, and the server loses its client")
    func cancelInTheMiddle() async throws {
        let server = try LoopbackServer(["/stalled": .stalled(body)])
        let delegate = SessionDelegate(on: queue) { $0.cancel() }
        _ = await load(server.url("/stalled"), delegate: delegate)
        #expect(delegate.error == .cancelled)
        #expect(!delegate.data.isEmpty && delegate.data.count < body.count)
        await until { server.events.events.contains(.clientLeft("/stalled")) }
    }

    @Test("a failure of the server is its status")
    func failure() async throws {
        let server = try LoopbackServer(["/failure": .body(Data("out of order".utf8), status: 500)])
        let delegate = SessionDelegate(on: queue)
        let response = await load(server.url("/failure"), delegate: delegate)
        #expect((response as? HTTPURLResponse)?.statusCode == 500)
        #expect(delegate.data == Data("out of order".utf8))
    }

    @Test("a connection that breaks in the middle is an error")
    func brokenConnection() async throws {
        let server = try LoopbackServer(["/broken": .broken(body)])
        let delegate = SessionDelegate(on: queue)
        _ = await load(server.url("/broken"), delegate: delegate)
        #expect(delegate.error != nil)
        #expect(delegate.data.count < body.count)
    }

    @Test("a server that does not answer in time is an error that says so")
    func timeout() async throws {
        let server = try LoopbackServer(["/silence": .silence])
        let delegate = SessionDelegate(on: queue)
        _ = await load(server.url("/silence"), delegate: delegate, timeout: 1)
        #expect(delegate.error == .timedOut)
    }
}
