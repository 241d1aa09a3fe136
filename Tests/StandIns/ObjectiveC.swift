// swift-format-ignore-file
// A stand-in for the overlay of the Objective-C runtime: stdlib/public/Darwin/ObjectiveC/ObjectiveC.swift of swift 5.3.
public func autoreleasepool<Result>(invoking body: () throws -> Result) rethrows -> Result { try body() }
