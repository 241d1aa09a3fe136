// What the snippets of README.md and of the articles use without saying so. See .ci/docs.

import Foundation
import TaskOperations
import TaskOperationsBridge
import TaskOperationsDeliveries
import TaskOperationsTesting

struct Image: Sendable {}
struct Photo: Sendable, Codable {}
struct HTTPError: Error { let status: Int }
struct User: Sendable {}
struct UserNotFound: Error { let id: Int }
struct TooManyRequests: Error { let retryAfter: Duration }
struct Answer: Sendable { let tokenCount: Int }

let url = URL(filePath: "/")
let urls = [url]
let mirrors = [url, url]
let picture = URL(filePath: "/picture.svg")
let folder = "/"
let film = 1
let page = 1
let report = 1
let tenant = "a"
let provider = "a"
let providers = ["a", "b"]
let question = "?"
let estimate = 1000
let files = ["a"]

let queue = TaskOperationQueue()
let jobs = TaskOperationQueue()
let reads = TaskOperationQueue()
let writes = TaskOperationQueue()
let legacyQueue = OperationQueue()
let database = AsyncSemaphore(capacity: 1)
let scan = BlockOperation {}
let publish = BlockOperation {}
let image = TaskOperation { Image() }
let stream = AsyncStream<URL> { $0.finish() }
let engine = InMemoryEngine<Photo>(lease: .seconds(30), clock: ContinuousClock())

enum Request {
    @TaskLocal static var id: String?
}

func work() async throws {}
func list(_ folder: String) async throws -> [String] { [] }
func fetch(_ url: URL) async throws -> Data { Data() }
func fetch(_ url: URL, token: String) async throws -> Data { Data() }
func refresh(_ token: String) async throws -> String { token }
func load(_ url: URL, then: @escaping @Sendable (Data?, (any Error)?) -> Void) {}
func decode(_ data: Data) throws -> Image { Image() }
func send(_ report: Int) async throws -> Int { report }
func removeTemporaryFiles() async throws {}
func find(_ query: String) async throws -> [String] { [query] }
func loadUsers(_ ids: [Int]) async throws -> [Int: User] { [:] }
func save(_ text: String) async throws {}
func store(_ data: Data) async throws {}
func store(_ photo: Photo) async throws {}
func thumbnail(of photo: Photo) async throws -> Photo { photo }
func export(_ film: Int) async throws {}
func convert(_ film: Int) async throws {}
func readRows() async throws {}
func writeRows() async throws {}
func index(_ file: String) async throws {}
func buildIndex() async throws {}
func render(_ page: Int) async throws {}
func draw() async throws {}
func ask(_ question: String, of provider: String = "") async throws -> Answer { Answer(tokenCount: 1) }
func openConnection() -> Int { 0 }
@MainActor func show(_ image: Image) {}

struct Connection: Sendable {
    init(to url: URL) async throws {}
    func query(_ text: String) async throws -> User { User() }
    func answersPing() async -> Bool { true }
    func close() async {}
}
