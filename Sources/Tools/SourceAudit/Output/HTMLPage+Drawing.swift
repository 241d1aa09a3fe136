extension HTMLPage {
    /// Draws the waves: a column for each wave, a box for each file, and a line for each use of the chosen file.
    static let drawing = #"""
        const perColumn = 40;
        function draw() {
          const space = "http://www.w3.org/2000/svg";
          const node = (name, attributes, text) => {
            const element = document.createElementNS(space, name);
            for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
            if (text !== undefined) element.textContent = text;
            return element;
          };
          if (!report.waves.length) {
            byId("picture").textContent = "No code is left to move.";
            return;
          }
          const [width, gap, height, step, top] = [230, 70, 24, 30, 34];
          const columns = report.waves.map(wave => {
            const files = [...wave.files].sort((a, b) => b.effort - a.effort || (a.path < b.path ? -1 : 1));
            return { wave, files: files.slice(0, perColumn), more: files.length - perColumn };
          });
          const tallest = Math.max(...columns.map(c => c.files.length + (c.more > 0 ? 1 : 0)));
          const svg = node("svg", { width: columns.length * (width + gap), height: top + tallest * step + 8,
            role: "img", "aria-label": "files by wave" });
          const lines = node("g", {}), boxes = node("g", {}), place = new Map();
          const most = Math.max(...rows.map(f => f.effort));
          columns.forEach((column, number) => {
            const x = number * (width + gap) + 4;
            const head = `wave ${column.wave.number} · ${count(column.wave.files.length, "file")} · ${column.wave.effort / 4} h`;
            boxes.append(node("text", { x, y: 18, class: "head" }, head));
            column.files.forEach((file, index) => {
              const y = top + index * step;
              place.set(file.path, { x, y });
              const group = node("g", { class: "file", tabindex: 0, role: "button", "data-path": file.path });
              const effort = patterns.get(file.hardest)?.effort || 1;
              const part = 30 + (width - 30) * Math.sqrt(file.effort / most);
              const name = file.path.split("/").pop();
              group.append(node("title", {}, `${short(file.path)}\n${count(file.sites, "site")}, ${file.effort / 4} h, ` +
                `used by ${file.usedBy.length}, uses ${file.uses.length}`),
                node("rect", { x, y, width, height, rx: 5, class: "back" }),
                node("rect", { x, y, width: part, height, rx: 5, class: `e${effort}` }),
                node("text", { x: x + 7, y: y + 16 }, name.length > 30 ? name.slice(0, 29) + "…" : name));
              const choose = () => chooseFile(chosenFile === file.path ? "" : file.path);
              group.onclick = choose;
              group.onkeydown = event => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose(); } };
              group.onmouseenter = group.onfocus = () => mark(file.path);
              group.onmouseleave = group.onblur = () => mark(chosenFile);
              boxes.append(group);
            });
            if (column.more > 0) boxes.append(node("text", { x: x + 7, y: top + column.files.length * step + 16,
              class: "head" }, `and ${count(column.more, "file")} with less effort`));
          });
          for (const file of rows) for (const used of file.uses) {
            const a = place.get(file.path), b = place.get(used);
            if (!a || !b) continue;
            const back = b.x <= a.x;
            const [x1, y1, x2, y2] = [back ? a.x : a.x + width, a.y + height / 2, back ? b.x + width : b.x, b.y + height / 2];
            const bend = Math.max(30, Math.abs(x2 - x1) / 2) * (back ? -1 : 1);
            const same = a.x === b.x;
            const curve = same
              ? `M${a.x + width},${y1} C${a.x + width + 35},${y1} ${a.x + width + 35},${y2} ${a.x + width},${y2}`
              : `M${x1},${y1} C${x1 + bend},${y1} ${x2 - bend},${y2} ${x2},${y2}`;
            lines.append(node("path", { d: curve, "data-from": file.path, "data-to": used }));
          }
          // More lines than can be told apart show when their file is looked at.
          if (lines.childElementCount > 120) lines.setAttribute("class", "many");
          svg.append(lines, boxes);
          byId("picture").replaceChildren(svg);
        }

        function mark(path) {
          document.querySelectorAll("#picture path").forEach(line =>
            line.classList.toggle("uses", !!path && (line.dataset.from === path || line.dataset.to === path)));
        }

        function markFile() {
          document.querySelectorAll("#picture .file").forEach(file =>
            file.classList.toggle("chosen", file.dataset.path === chosenFile));
          mark(chosenFile);
        }

        function chooseFile(path) {
          chosenFile = path;
          markFile();
          update();
        }

        /** Hot spots and quick wins, each of which lists its file. */
        function fillStart() {
          if (!report.start) return;
          const file = (path, line, text) => {
            const button = make("button", { class: "link", type: "button" }, short(path) + (line ? `:${line}` : ""));
            button.onclick = () => {
              const opener = byId("opener").value;
              byId("filters").reset();
              byId("opener").value = opener;
              chooseFile(path);
              byId("filters").scrollIntoView();
            };
            return make("li", {}, button, " ", make("small", {}, text));
          };
          const part = (title, reason, items) => {
            const list = make("ul", {}, ...items.slice(0, 5));
            const block = make("div", { class: "ring" }, make("b", {}, title), " ", make("small", {}, reason), list);
            if (items.length > 5) {
              const more = make("button", { type: "button" }, `${items.length - 5} more`);
              more.onclick = () => { more.remove(); list.append(...items.slice(5)); };
              block.append(more);
            }
            return block;
          };
          byId("start").append(...report.start.hotSpots.map(kind => part(kind.title,
            `${count(kind.sites, "site")}: ${kind.reason}`,
            kind.spots.map(s => file(s.file, s.line, `${count(s.sites, "site")}, used by ${s.usedBy}`)))));
          const wins = report.start.quickWins.map(w => file(w.file, 0, `${count(w.sites, "site")} by rote; no other remaining file uses it`));
          const fixable = report.start.fixable ? `${count(report.start.fixable, "site")} for audit --fix` : "";
          if (wins.length || fixable) byId("start").append(part("Quick wins", fixable, wins));
        }

        function fillRest() {
          byId("rings").append(...report.rings.map(ring => make("div", { class: "ring" },
            make("b", {}, "A ring of files that must move together: "), ring.files.map(short).join(", "),
            ...(ring.cuts || [{ from: ring.cutFrom, to: ring.cutTo, count: ring.cutCount }]).flatMap(cut =>
              [make("br"), `To cut: ${short(cut.from)} uses ${short(cut.to)}, ${count(cut.count, "time")}.`]))));
          if (!report.notes.length) return;
          byId("notes").append(make("h2", {}, "Notes"), make("ul", {},
            ...report.notes.map(n => make("li", {}, make("code", {}, short(n.path)), " ", n.message))));
        }

        fillHeader();
        draw();
        fillStart();
        fillRest();
        readAddress();
        onhashchange = readAddress;
        for (const id of fields) byId(id).oninput = () => update();
        byId("opener").oninput = () => { writeAddress(); readAddress(); };
        byId("before").onclick = () => update(page - 1);
        byId("after").onclick = () => update(page + 1);
        byId("clear").onclick = () => { byId("filters").reset(); chooseFile(""); };
        """#
}
