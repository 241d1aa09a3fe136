// Names for the controlled build. See the article Exploration.
#if TASK_OPERATIONS_EXPLORED
    internal import Exploration
    internal import Synchronization

    typealias Atomic<Value: AtomicRepresentable> = ControlledAtomic<Value>
#endif
