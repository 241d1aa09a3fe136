/// The user interface types of the system that are isolated to the main actor.
enum MainActorTypes {
    private static let names: Set = ["View", "App", "Scene", "ViewModifier", "Commands", "ToolbarContent", "Widget"]
    private static let endings = [
        "View", "Controller", "Cell", "Control", "Button", "Label", "Window", "Field", "Application", "Responder",
        "Bar",
        "Delegate", "DataSource", "Representable", "Picker", "Slider", "Switch", "Panel", "Popover", "Menu", "MenuItem",
        "Presentation", "Recognizer", "Style",
    ]

    static func contains(_ name: String) -> Bool {
        if names.contains(name) { return true }
        guard name.hasPrefix("UI") || name.hasPrefix("NS") || name.hasPrefix("WK") || name.hasPrefix("MTK") else {
            return name.hasSuffix("Style") && name.hasPrefix("Button")
        }
        return endings.contains { name.hasSuffix($0) }
    }
}
