import Dispatch

/// Blocks the thread, as old code does.
func block(on semaphore: DispatchSemaphore) { semaphore.wait() }
