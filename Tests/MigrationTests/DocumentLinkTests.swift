import Foundation
import TestSupport
import Testing

@Suite("Links of the documents", .inTurns)
struct DocumentLinkTests {
    @Test("Every link within the package finds its file and its heading")
    func linksResolve() throws {
        var anchors: [String: Set<String>] = [:]
        for path in try MigrationDocument.paths {
            let document = try MigrationDocument(path)
            for link in document.links where !link.contains("://") {
                let (target, anchor) = document.target(of: link)
                let file = MigrationDocument.package.appending(path: target).path
                #expect(FileManager.default.fileExists(atPath: file), "\(path): no file \(link)")
                guard let anchor, FileManager.default.fileExists(atPath: file) else { continue }
                let known = try anchors[target] ?? Set(MigrationDocument(target).anchors)
                anchors[target] = known
                #expect(known.contains(anchor), "\(path): no heading \(link)")
            }
        }
    }

    @Test("Every path that a document names exists")
    func pathsExist() throws {
        var count = 0
        for path in try MigrationDocument.paths where path != MigrationDocument.article("Changes") {
            for named in try MigrationDocument(path).text.matches(
                of: /`((?:Sources|Tests|Documentation|\.ci)\/[^`\s:#]*)/)
            {
                let file = MigrationDocument.package.appending(path: String(named.1)).path
                #expect(FileManager.default.fileExists(atPath: file), "\(path): no \(named.1)")
                count += 1
            }
        }
        #expect(count > 40)
    }

    @Test("No two headings of a document are called alike, so that links are plain")
    func headings() throws {
        for path in try MigrationDocument.paths {
            let anchors = try MigrationDocument(path).anchors
            #expect(Set(anchors).count == anchors.count, "\(path)")
        }
    }

    @Test("How to choose leads to every recipe, and every page back to it")
    func choice() throws {
        let guide = try MigrationDocument()
        let choice = try #require(guide.sections.first { $0.title == "How to choose" })
        for path in try MigrationDocument.recipePaths {
            #expect(choice.text.contains("](\(path)) |"), "no row for \(path)")
            let back = try MigrationDocument(path)
            #expect(back.links.contains { back.target(of: $0) == ("Migration.md", "how-to-choose") }, "\(path)")
        }
    }

    @Test("Links to the guide from elsewhere are valid")
    func oldAnchors() throws {
        let anchors = try Set(MigrationDocument().anchors)
        for anchor in Self.oldAnchors.split(whereSeparator: \.isWhitespace) {
            #expect(anchors.contains(String(anchor)), "no #\(anchor)")
        }
    }

    /// The headings that Migration.md had when it was one page.
    private static let oldAnchors = """
        how-to-choose the-order-in-which-to-move-a-code-base step-0-whatever-you-have a-code-base-for-dispatch
        a-code-base-for-threads what-the-compiler-says-on-the-way suites-that-stay-on-xctest
        how-to-tell-that-you-are-done operations a-block-operation many-blocks-in-one-operation
        an-invocation-operation a-synchronous-subclass an-asynchronous-subclass cancellation-inside-a-loop
        cancellation-of-a-network-call the-state-machine-by-hand observing-states dependencies
        dependencies-across-queues a-cycle priority quality-of-service completion passing-results errors
        a-graph-of-dependencies starting-by-hand adding-operations a-serial-queue a-pool-of-threads the-width
        cancelling waiting suspension the-size-of-the-work batches keeping-and-releasing barriers progress
        downloads-with-a-cancellation a-subclass-of-operationqueue conditions-of-an-operation
        an-extension-of-operation the-last-operation-of-a-graph dispatch
        async-to-the-background-and-back-to-main sync-for-a-value a-serial-queue-as-a-lock a-concurrent-queue
        the-main-queue global-queues-and-priorities a-group-that-is-waited-for a-group-that-notifies
        group-enter-and-leave-around-callbacks readers-and-writers apply after once a-semaphore-as-a-limit
        a-semaphore-as-a-signal a-work-item-that-is-cancelled a-work-item-that-notifies a-timer-source
        a-signal-source a-descriptor-source a-process-source a-custom-source sync-on-the-own-queue target-queues
        a-semaphore-as-a-lock a-source-that-is-suspended a-timer-that-is-rearmed threads detach-a-thread
        a-thread-that-blocks perform-on-main perform-on-a-thread perform-after-a-delay perform-and-cancel
        tickets-without-a-lock tickets-with-a-lock tickets-with-a-condition tickets-with-synchronized
        a-condition-that-orders-threads thread-local-values-and-task-locals a-list-of-blocks-for-one-thread
        user-callbacks-that-may-block whole-systems the-image-downloader the-photo-manager the-ticket-office
        the-download-operation-with-a-delegate differences-from-operationqueue-rule-by-rule a-bridged-queue
        what-takes-the-place-of-each-member members-of-operation members-of-blockoperation
        members-of-operationqueue calls-of-dispatch questions an-actor-is-a-queue-already-why-another
        does-reentrancy-reach-into-a-queue-of-width-1 in-what-order-does-task----run
        where-did-the-threads-go-can-they-explode what-about-priority-inversion why-not-just-a-task-group
        why-not-a-dispatchsemaphore-in-a-task can-i-call-all-this-from-synchronous-code
        which-half-should-i-move-if-i-can-move-only-one
        """
}
