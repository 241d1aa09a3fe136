extension HTMLPage {
    /// Lists the findings, and shows the chosen finding. Texts are inserted as text nodes, never as markup.
    static let script = #"""
        "use strict";
        const { report, recipes, tests, folder } = JSON.parse(document.getElementById("data").textContent);
        const byId = id => document.getElementById(id);
        const patterns = new Map(report.patterns.map(p => [p.id, p]));
        const rows = report.waves.flatMap(w => w.files);
        const waveOf = new Map(rows.map(f => [f.path, f.wave]));
        const efforts = ["stays", "by rote", "callers change", "needs thought", "wrap or translate first"];
        const steps = { 2: "Replace queues", 3: "Move operations, the leaves first", 4: "Continue towards the roots",
          5: "Make the callers async", 6: "Remove shared state", 7: "Turn on strict checking",
          8: "Delete the bridge" };
        const testFiles = new Set(tests);
        const fields = ["search", "family", "effort", "wave", "kind", "opener"];
        const perPage = 200;
        /** What the address has besides the fields: a file, a page, and the fingerprint of a line. */
        let [chosenFile, page, chosenLine] = ["", 1, ""];

        /** The folder that all files are in stands in none of their names. */
        const common = (() => {
          const folders = rows.map(f => f.path.split("/").slice(0, -1));
          let length = folders.length ? Math.min(...folders.map(f => f.length)) : 0;
          while (length > 0 && folders.some(f => f[length - 1] !== folders[0][length - 1]
            || f.slice(0, length).join("/") !== folders[0].slice(0, length).join("/"))) length--;
          return length ? folders[0].slice(0, length).join("/") + "/" : "";
        })();
        const short = path => path.startsWith(common) ? path.slice(common.length) : path;

        function make(name, attributes, ...children) {
          const element = document.createElement(name);
          for (const [key, value] of Object.entries(attributes || {})) {
            if (key === "class") element.className = value; else if (key.startsWith("on")) element[key] = value;
            else element.setAttribute(key, value);
          }
          element.append(...children);
          return element;
        }
        const count = (n, noun) => `${n.toLocaleString()} ${noun}${n === 1 ? "" : "s"}`;

        function fillHeader() {
          const s = report.summary;
          byId("source").textContent = `${count(report.files, "file")}, ${count(report.lines, "line")}` +
            (report.index ? `; the compiler's index knows ${report.index.files} of the files` : "; from names alone");
          const tiles = [[s.sites, "sites to move"], [s.testSites || 0, "of them in tests"],
            [Math.round(s.hours || s.effort / 4), "hours, estimated"], [s.files, "files with them"],
            [report.waves.length, "waves"], [s.certain, "certain"], [s.likely, "likely"],
            [s.withoutRecipe, "without a recipe"], [s.allowed, "allowed"]];
          byId("tiles").append(...tiles.map(([n, name]) =>
            make("div", { class: "tile" }, make("b", {}, n.toLocaleString()), make("span", {}, name))));
          const options = (id, first, list) => byId(id).append(make("option", { value: "" }, first),
            ...list.map(([value, text]) => make("option", { value }, text)));
          options("family", "any family", Object.keys(s.families).sort().map(f => [f, `${f} (${s.families[f]})`]));
          options("wave", "any wave", report.waves.map(w => [w.number, `wave ${w.number} (${w.sites})`]));
        }

        function matches(entry) {
          const pattern = patterns.get(entry.pattern);
          const value = id => byId(id).value;
          const text = value("search").toLowerCase();
          const kind = value("kind");
          if (kind === "allowed" ? !entry.allowance : entry.allowance) return false;
          if (chosenFile && entry.file !== chosenFile) return false;
          if (value("family") && pattern?.family !== value("family")) return false;
          if (value("effort") && String(pattern?.effort) !== value("effort")) return false;
          if (value("wave") && String(waveOf.get(entry.file)) !== value("wave")) return false;
          if ((kind === "certain" || kind === "likely") && entry.certainty !== kind) return false;
          if (kind === "none" && pattern?.recipe) return false;
          if (kind === "tests" ? !testFiles.has(entry.file) : kind === "product" && testFiles.has(entry.file)) return false;
          return !text || [entry.file, entry.source, entry.pattern, pattern?.title].join("\n").toLowerCase().includes(text);
        }

        function fillList() {
          const found = report.findings.filter(matches);
          const pages = Math.max(1, Math.ceil(found.length / perPage));
          if (chosenLine) {
            const place = found.findIndex(e => e.fingerprint === chosenLine);
            if (place >= 0) page = Math.floor(place / perPage) + 1;
          }
          page = Math.min(Math.max(1, page), pages);
          const shown = found.slice((page - 1) * perPage, page * perPage);
          byId("count").textContent = count(found.length, "site") + (chosenFile ? ` in ${short(chosenFile)}` : "");
          byId("pages").hidden = pages === 1;
          byId("page").textContent = `page ${page} of ${pages}`;
          byId("before").disabled = page === 1;
          byId("after").disabled = page === pages;
          const groups = new Map();
          for (const entry of shown) {
            if (!groups.has(entry.file)) groups.set(entry.file, []);
            groups.get(entry.file).push(entry);
          }
          const isShort = groups.size <= 8;
          byId("list").replaceChildren(...[...groups].map(([file, entries], number) => {
            const row = rows.find(f => f.path === file);
            const facts = (row ? `wave ${row.wave}, layer ${row.layer}, ${row.effort / 4} h` : "") +
              (testFiles.has(file) ? ", tests" : "");
            const head = make("summary", {}, make("b", {}, short(file)), " ", make("small", {}, `${entries.length} · ${facts}`));
            const group = make("details", isShort || number < 3 ? { open: "" } : {}, head);
            group.append(...entries.map(line));
            if (entries.some(e => e.fingerprint === chosenLine)) group.open = true;
            return group;
          }));
        }

        /** Lists again what the fields say, from the first page on unless one is given, and puts it into the address. */
        function update(newPage = 1) {
          page = newPage;
          chosenLine = "";
          fillList();
          writeAddress();
        }

        function writeAddress() {
          const parts = new URLSearchParams();
          for (const id of fields) if (byId(id).value) parts.set(id, byId(id).value);
          if (chosenFile) parts.set("file", chosenFile);
          if (page > 1) parts.set("page", page);
          if (chosenLine) parts.set("line", chosenLine);
          const hash = "#" + parts;
          if (hash !== location.hash) history.replaceState(null, "", hash);
        }

        function readAddress() {
          const parts = new URLSearchParams(location.hash.slice(1));
          for (const id of fields) byId(id).value = parts.get(id) || "";
          for (const id of fields) if (byId(id).selectedIndex === -1) byId(id).selectedIndex = 0;
          [chosenFile, page, chosenLine] = [parts.get("file") || "", Number(parts.get("page")) || 1, parts.get("line") || ""];
          markFile();
          fillList();
          const entry = report.findings.find(e => e.fingerprint === chosenLine);
          if (!entry) return;
          show(entry, patternOf(entry));
          document.querySelector(".row.chosen")?.scrollIntoView({ block: "center" });
        }

        const patternOf = entry => patterns.get(entry.pattern) || { title: entry.pattern, effort: 1 };

        /** A link that opens a line: with the scheme of an editor, otherwise the file alone. */
        function address(entry) {
          const path = encodeURI(entry.file.startsWith("/") ? entry.file : `${folder}/${entry.file}`);
          const place = `${entry.line}:${entry.column}`;
          switch (byId("opener").value) {
          case "vscode": return `vscode://file${path}:${place}`;
          case "idea": return `idea://open?file=${path}&line=${entry.line}`;
          case "txmt": return `txmt://open?url=file://${path}&line=${entry.line}&column=${entry.column}`;
          default: return `file://${path}#L${entry.line}`;
          }
        }

        function line(entry) {
          const pattern = patternOf(entry);
          const tags = [make("span", { class: `tag e${pattern.effort}` }, pattern.title)];
          if (!pattern.recipe) tags.push(" ", make("span", { class: "tag plain" }, "no recipe"));
          if (entry.certainty === "likely") tags.push(" ", make("span", { class: "tag plain" }, "likely"));
          if (entry.condition) tags.push(" ", make("span", { class: "tag plain" }, "#if " + entry.condition));
          if (entry.allowance) tags.push(" ", make("span", { class: "tag plain" }, "allowed: " + entry.allowance));
          const button = make("button", { class: "row", type: "button", title: entry.source },
            make("span", { class: "place" }, `${entry.line}:${entry.column} `), ...tags, make("code", {}, entry.source));
          if (entry.fingerprint === chosenLine) button.classList.add("chosen");
          button.onclick = () => {
            document.querySelectorAll(".row.chosen").forEach(r => r.classList.remove("chosen"));
            button.classList.add("chosen");
            chosenLine = entry.fingerprint;
            writeAddress();
            show(entry, pattern);
          };
          return button;
        }

        function show(entry, pattern) {
          const parts = [make("h3", {}, pattern.title),
            make("p", { class: "hint" }, make("a", { href: address(entry) }, `${short(entry.file)}:${entry.line}`),
              entry.context ? ` in ${entry.context}` : ""),
            make("pre", {}, entry.source), make("p", {}, pattern.meaning || ""),
            make("p", {}, make("span", { class: `tag e${pattern.effort}` }, efforts[pattern.effort]), " ",
              `step ${pattern.step}: ${steps[pattern.step] || ""}`)];
          if (pattern.recipe) {
            parts.push(make("h4", {}, pattern.recipe));
            if (recipes[pattern.recipe]) parts.push(...markdown(recipes[pattern.recipe]));
          } else parts.push(make("p", {}, "There is no recipe for this finding."));
          byId("detail").replaceChildren(...parts);
          byId("detail").scrollTop = 0;
        }

        function inline(text) {
          const parts = text.split(/(`[^`]+`|\*\*[^*]+\*\*|\[[^\]]+\]\([^)]+\))/);
          return parts.filter(p => p).map(p => p[0] === "`" ? make("code", {}, p.slice(1, -1))
            : p.startsWith("**") ? make("b", {}, p.slice(2, -2))
            : p[0] === "[" && p.includes("](") ? make("i", {}, p.slice(1, p.indexOf("]("))) : p);
        }

        /** As much of Markdown as the recipes have: code, lists, tables and paragraphs. */
        function markdown(text) {
          const parts = [], lines = text.split("\n");
          for (let i = 0; i < lines.length; i++) {
            if (lines[i].startsWith("```")) {
              const from = ++i;
              while (i < lines.length && !lines[i].startsWith("```")) i++;
              parts.push(make("pre", {}, lines.slice(from, i).join("\n")));
            } else if (/^(\d+\.|-) /.test(lines[i])) {
              const list = make(lines[i][0] === "-" ? "ul" : "ol", {});
              for (; i < lines.length && /^(\d+\.|-) /.test(lines[i]); i++)
                list.append(make("li", {}, ...inline(lines[i].replace(/^(\d+\.|-) /, ""))));
              i--;
              parts.push(list);
            } else if (lines[i].startsWith("|")) {
              const table = make("table", {});
              for (; i < lines.length && lines[i].startsWith("|"); i++) {
                const cells = lines[i].slice(1, -1).split("|").map(c => c.trim());
                if (cells.every(c => /^:?-*:?$/.test(c) && c)) continue;
                table.append(make("tr", {}, ...cells.map(c => make("td", {}, ...inline(c)))));
              }
              i--;
              parts.push(table);
            } else if (lines[i].trim()) parts.push(make("p", {}, ...inline(lines[i])));
          }
          return parts;
        }

        """#
}
