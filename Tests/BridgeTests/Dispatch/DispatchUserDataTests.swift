import Dispatch
import TaskOperationsBridge
import TaskOperationsExtras
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Custom data as sequences", .inTurns)
struct DispatchUserDataTests {
    @Test("numbers that are added while no task waits are delivered as one sum")
    func addMerged() async {
        let (source, sums) = DispatchSource.userDataAddEvents()
        var iterator = sums.makeAsyncIterator()
        for number in 1...10 { source.add(data: UInt(number)) }
        #expect(await iterator.next() == 55)
        source.add(data: 3)
        source.add(data: 4)
        #expect(await iterator.next() == 7)
    }

    @Test("nothing that is added from many threads is lost")
    func addConcurrently() async {
        let (source, sums) = DispatchSource.userDataAddEvents()
        let adding = Task {
            DispatchQueue.concurrentPerform(iterations: 1000) { [source = Adder(source: source)] _ in
                source.source.add(data: 1)
            }
        }
        var total: UInt = 0
        for await sum in sums {
            total += sum
            if total >= 1000 { break }
        }
        #expect(total == 1000)
        await adding.value
    }

    @Test("bits that are set while no task waits are delivered together")
    func or() async {
        let (source, bits) = DispatchSource.userDataOrEvents()
        var iterator = bits.makeAsyncIterator()
        source.or(data: 0b001)
        source.or(data: 0b100)
        source.or(data: 0b001)
        #expect(await iterator.next() == 0b101)
        source.or(data: 0b010)
        #expect(await iterator.next() == 0b010)
    }

    @Test("of numbers that are stored while no task waits, the last one is delivered")
    func replace() async {
        let (source, numbers) = DispatchSource.userDataReplaceEvents()
        var iterator = numbers.makeAsyncIterator()
        for number in 1...10 { source.replace(data: UInt(number)) }
        #expect(await iterator.next() == 10)
        source.replace(data: 3)
        #expect(await iterator.next() == 3)
    }

    @Test("events(of:) delivers the data of any source, and the end of the iteration cancels the source")
    func otherSources() async {
        let source = DispatchSource.makeUserDataAddSource()
        var total: UInt = 0
        source.add(data: 5)
        for await data in DispatchSource.events(of: source) {
            total += data
            if total == 12 { break }
            source.add(data: 7)
        }
        #expect(total == 12)
        #expect(source.isCancelled)
    }

    @Test("a number resumes the waiting task")
    func wakes() async {
        let (source, sums) = DispatchSource.userDataAddEvents()
        let waiting = Task.immediate {
            var iterator = sums.makeAsyncIterator()
            return await iterator.next()
        }
        source.add(data: 9)
        #expect(await waiting.value == 9)
    }

    @Test("the iteration ends where old code cancels the source")
    func cancelledByOldCode() async {
        let (source, sums) = DispatchSource.userDataAddEvents()
        let waiting = Task.immediate {
            for await _ in sums {}
        }
        source.cancel()
        await waiting.value

        let (other, others) = DispatchSource.userDataAddEvents()
        other.cancel()
        for await _ in others {}
    }

    @Test("leaving the loop and cancelling the task cancel the source")
    func cancelledByNewCode() async {
        let (source, sums) = DispatchSource.userDataAddEvents()
        source.add(data: 1)
        for await _ in sums { break }
        #expect(source.isCancelled)

        let (other, others) = DispatchSource.userDataAddEvents()
        let waiting = Task.immediate {
            for await _ in others {}
        }
        waiting.cancel()
        await waiting.value
        #expect(other.isCancelled)
    }
}

private struct Adder: @unchecked Sendable {  // Any thread may add to a Dispatch source.
    let source: any DispatchSourceUserDataAdd
}
