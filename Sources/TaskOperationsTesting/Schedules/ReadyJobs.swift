internal import CSchedules

/// A job that can run now.
struct ReadyJob: Sendable {
    let job: UnownedJob
    /// The number of the task. A job that runs an actor has the number of the task that entered the actor, or a number
    /// of its own.
    let task: UInt64
    let isMain: Bool
    /// The actor that the task is about to enter; nil if it does not enter one.
    let entry: SchedulesSwitch?
    /// The priority, for the strategy with priorities; otherwise 0.
    var rank: UInt64
    /// The number of jobs of the run that became ready earlier, or began to sleep earlier.
    let number: Int
}

/// The jobs that can run now, in the usual order.
///
/// Jobs of the main actor keep their order, so only the first of them can be chosen. Each call takes O(log *n*) time.
struct ReadyJobs: Sendable {
    /// The number of jobs in a part of the places that can be chosen, and their highest rank.
    private struct Part: Sendable {
        var count = 0
        var rank: UInt64 = 0
    }

    /// The jobs, with gaps. A gap keeps an old job. The number of places is a power of two.
    private var places: [ReadyJob] = []
    /// A binary tree. Part 1 is the whole, and part `n` consists of the parts `2n` and `2n + 1`. Each place is one of the
    /// last parts.
    private var parts = [Part(), Part()]
    /// The places from `start` to `end - 1` are in use.
    private var (start, end) = (0, 0)
    /// The places of the jobs of the main actor.
    private var mainPlaces: ArraySlice<Int> = []

    /// The number of jobs that can be chosen.
    var count: Int { parts[1].count }

    /// Adds a job after the others, or before them. A job of the main actor is never added before another one.
    mutating func add(_ job: ReadyJob, isNext: Bool = false) {
        if isNext, !job.isMain || mainPlaces.isEmpty {
            if start == 0 { makeRoom(job) }
            start -= 1
            put(job, at: start)
        } else {
            if end == places.count { makeRoom(job) }
            put(job, at: end)
            end += 1
        }
    }

    /// Adds a job before all others, although jobs of the main actor may be among these.
    mutating func putBack(_ job: ReadyJob) {
        if start == 0 { makeRoom(job) }
        start -= 1
        places[start] = job
        if job.isMain {
            if let first = mainPlaces.first { setPart(first, 0, 0) }
            mainPlaces.insert(start, at: mainPlaces.startIndex)
        }
        setPart(start, 1, job.rank)
    }

    /// Calls a function with each job that can be chosen and precedes a position. Takes linear time.
    func forEach(before position: Int, _ body: (ReadyJob) -> Void) {
        if position == 0 { return }
        for place in start..<place(position) where parts[places.count + place].count > 0 { body(places[place]) }
    }

    /// Whether the first job is one of the main actor. There must be a job.
    var isFirstMain: Bool { places[place(0)].isMain }

    private mutating func put(_ job: ReadyJob, at place: Int) {
        places[place] = job
        if job.isMain {
            mainPlaces.append(place)
            if mainPlaces.count > 1 { return }
        }
        setPart(place, 1, job.rank)
    }

    /// Removes and returns the job at a position among those that can be chosen.
    mutating func remove(at position: Int) -> ReadyJob {
        let place = place(position)
        let job = places[place]
        setPart(place, 0, 0)
        if job.isMain {
            mainPlaces.removeFirst()
            if let next = mainPlaces.first { setPart(next, 1, places[next].rank) }
        }
        if place == start { start += 1 }
        if count == 0 { (start, end) = (places.count / 4, places.count / 4) }
        return job
    }

    /// The position of the job of the highest rank.
    var highest: Int {
        parts.withUnsafeBufferPointer { buffer in
            let (parts, leaves) = (buffer.baseAddress!, places.count)
            var (part, position) = (1, 0)
            while part < leaves {
                part *= 2
                if parts[part].rank < parts[part + 1].rank {
                    position += parts[part].count
                    part += 1
                }
            }
            return position
        }
    }

    /// Gives the job at a position the rank that `rank` returns.
    mutating func setRank(at position: Int, _ rank: (_ task: UInt64) -> UInt64) {
        let place = place(position)
        places[place].rank = rank(places[place].task)
        setPart(place, 1, places[place].rank)
    }

    // Without optimization, pointers are several times faster than arrays.

    private func place(_ position: Int) -> Int {
        parts.withUnsafeBufferPointer { buffer in
            let (parts, leaves) = (buffer.baseAddress!, places.count)
            var (part, left) = (1, position)
            while part < leaves {
                part *= 2
                if left >= parts[part].count {
                    left -= parts[part].count
                    part += 1
                }
            }
            return part - leaves
        }
    }

    private mutating func setPart(_ place: Int, _ count: Int, _ rank: UInt64) {
        let leaf = places.count + place
        parts.withUnsafeMutableBufferPointer { buffer in
            let parts = buffer.baseAddress!
            (parts[leaf].count, parts[leaf].rank) = (count, rank)
            var part = leaf / 2
            while part > 0 {
                let (one, other) = (2 * part, 2 * part + 1)
                parts[part].count = parts[one].count + parts[other].count
                parts[part].rank = parts[one].rank > parts[other].rank ? parts[one].rank : parts[other].rank
                part /= 2
            }
        }
    }

    /// Distributes the jobs so that at least half of the places are free. A quarter of these precedes the jobs.
    ///
    /// - Parameter filler: The content of gaps.
    private mutating func makeRoom(_ filler: ReadyJob) {
        let old = self
        var size = 64
        while size < 2 * (count + mainPlaces.count) { size *= 2 }
        places = Array(repeating: filler, count: size)
        parts = Array(repeating: Part(), count: 2 * size)
        mainPlaces = []
        (start, end) = (size / 8, size / 8)
        var oldMainPlaces = old.mainPlaces
        for place in old.start..<old.end {
            let isMain = oldMainPlaces.first == place
            if isMain { oldMainPlaces.removeFirst() }
            if isMain || old.parts[old.places.count + place].count > 0 { add(old.places[place]) }
        }
    }
}
