import Foundation
import TaskOperations
import TaskOperationsExtras
import TestSupport
import Testing

@Suite("Limits of open files", .endsInTime)
struct OpenFilesTests {
    @Test("the capacity is the limit of the process at the call, less the reserved files, and at least 1")
    func capacity() async {
        await #expect(processExitsWith: .success) {
            limitOpenFiles(to: 100)
            #expect(AsyncSemaphore.forOpenFiles().capacity == 36)
            #expect(AsyncSemaphore.forOpenFiles(reserving: 0).capacity == 100)
            #expect(AsyncSemaphore.forOpenFiles(reserving: .max).capacity == 1)
        }
    }

    @Test("200 readers, each of another queue, open no more files than a limit of 80 allows")
    func readers() async {
        await #expect(processExitsWith: .success) {
            limitOpenFiles(to: 80)
            let files = AsyncSemaphore.forOpenFiles()
            let readers = (0..<200).map { _ in
                TaskOperationQueue(maxConcurrentOperationCount: 1).addOperation(.limit(files)) {
                    let descriptor = open("/dev/null", O_RDONLY)
                    // The files stay open while other tasks open theirs.
                    for _ in 0..<10 { await Task.yield() }
                    return close(descriptor) == 0
                }
            }
            for reader in readers {
                let isOpened = try await reader.value
                #expect(isOpened)
            }
        }
    }
}
