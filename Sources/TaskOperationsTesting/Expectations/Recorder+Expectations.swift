#if canImport(Testing)
    public import Testing

    extension Recorder where Event == WorkEvent {
        /// Expects that these pieces of work, and no others, started in this order. If several of them may execute at
        /// once, the order in which their bodies record it is not that of their starts: use a width of 1, or compare sets.
        public func expectStarted(_ names: String..., sourceLocation: SourceLocation = #_sourceLocation) {
            #expect(started == names, sourceLocation: sourceLocation)
        }

        /// Expects that these pieces of work, and no others, finished in this order.
        public func expectFinished(_ names: String..., sourceLocation: SourceLocation = #_sourceLocation) {
            #expect(finished == names, sourceLocation: sourceLocation)
        }

        /// Expects that a piece of work started, and that another one had finished before.
        public func expect(
            _ name: String, startedAfter other: String, sourceLocation: SourceLocation = #_sourceLocation
        ) {
            let events = events
            guard let start = events.firstIndex(of: .started(name)) else {
                Issue.record("\(name) did not start; recorded: \(events)", sourceLocation: sourceLocation)
                return
            }
            let hadFinished = events[..<start].contains(.finished(other))
            #expect(
                hadFinished, "\(other) had not finished when \(name) started: \(events)", sourceLocation: sourceLocation
            )
        }

        /// Expects that at most the given number of pieces of work were executing at any moment.
        public func expectAtMost(_ width: Int, sourceLocation: SourceLocation = #_sourceLocation) {
            let most = mostAtOnce
            #expect(most <= width, "recorded: \(events)", sourceLocation: sourceLocation)
        }

        /// Expects that each piece of work that started has finished, and that none started or finished twice.
        public func expectAllFinishedOnce(sourceLocation: SourceLocation = #_sourceLocation) {
            let (started, finished) = (started, finished)
            #expect(started.sorted() == finished.sorted(), "recorded: \(events)", sourceLocation: sourceLocation)
            #expect(Set(started).count == started.count, "recorded: \(events)", sourceLocation: sourceLocation)
        }
    }
#endif
