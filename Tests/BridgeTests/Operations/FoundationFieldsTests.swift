#if !canImport(ObjectiveC)
    import Foundation
    import TestSupport
    import Testing

    @testable import TaskOperationsBridge

    @Suite("The private fields of Foundation's operations", .inTurns, .prompt, .endsInTime)
    struct FoundationFieldsTests {
        @Test("The fields have the names, types and states of the known versions")
        func fields() {
            #expect(FoundationFields.layout.differences == [])
        }

        @Test("The differences of another class are named")
        func differences() {
            #expect(
                FoundationFields.layout(of: OtherOperation.self).differences == [
                    "__state is a Int, not a __NSOperationState",
                    "OtherOperation has no field __lock", "OtherOperation has no field __schedule",
                    "OtherOperation has no field __unfinishedDependencyCount",
                ])
        }
    }

    private final class OtherOperation {
        // The name is that of Foundation's field.
        // swift-format-ignore: AlwaysUseLowerCamelCase
        let __state = 0
    }
#endif
