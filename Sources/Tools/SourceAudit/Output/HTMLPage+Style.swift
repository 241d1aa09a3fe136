extension HTMLPage {
    static let style = """
        :root {
          color-scheme: light dark;
          --back: #fbfbfa; --card: #ffffff; --ink: #1d2126; --soft: #5b6570; --line: #d9dde2; --mark: #2457c5;
          --one: #d7ecdd; --two: #f7e7bf; --three: #f6cfc8; --one-ink: #14532d; --two-ink: #6b4700; --three-ink: #7f1d1d;
          --code: #f1f3f5; --choice: #e3ecfd;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --back: #16191d; --card: #1e2328; --ink: #e6e9ec; --soft: #9aa5b1; --line: #353c44; --mark: #8ab4ff;
            --one: #1d4030; --two: #4d3d12; --three: #572a26; --one-ink: #b9e6c9; --two-ink: #f3dc9d;
            --three-ink: #f7c4bd; --code: #272d33; --choice: #25354f;
          }
        }
        * { box-sizing: border-box; }
        body { margin: 0 auto; max-width: 1500px; padding: 1.5rem; background: var(--back); color: var(--ink);
          font: 15px/1.5 system-ui, -apple-system, "Segoe UI", "Liberation Sans", sans-serif; }
        h1 { font-size: 1.5rem; margin: 0; } h2 { font-size: 1.15rem; margin: 2rem 0 .3rem; }
        h3 { font-size: 1rem; margin: 0 0 .4rem; } h4 { font-size: .95rem; margin: 1rem 0 .3rem; }
        p { margin: .3rem 0 .7rem; } .hint, #source { color: var(--soft); }
        a { color: var(--mark); }
        #tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: .7rem; }
        .tile { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .6rem .8rem; }
        .tile b { display: block; font-size: 1.45rem; line-height: 1.2; } .tile span { color: var(--soft); }
        #picture { overflow: auto; max-height: 30rem; background: var(--card); border: 1px solid var(--line);
          border-radius: .5rem; padding: .5rem; }
        #picture svg { display: block; } #picture text { fill: var(--ink); font-size: 12px; }
        #picture .head { fill: var(--soft); font-weight: 600; } #picture .file { cursor: pointer; }
        #picture .file rect { stroke: var(--line); } #picture .back { fill: var(--card); }
        #picture .file:hover rect, #picture .file:focus rect, #picture .file.chosen rect { stroke: var(--mark);
          stroke-width: 2; }
        #picture .file:focus { outline: none; }
        #picture path { fill: none; stroke: var(--soft); opacity: .25; }
        #picture .many path { opacity: 0; }
        #picture path.uses { stroke: var(--mark); opacity: .9; stroke-width: 1.5; }
        .e1 { fill: var(--one); background: var(--one); color: var(--one-ink); }
        .e2 { fill: var(--two); background: var(--two); color: var(--two-ink); }
        .e3 { fill: var(--three); background: var(--three); color: var(--three-ink); }
        .ring { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .5rem .8rem;
          margin-top: .6rem; overflow-wrap: anywhere; }
        .ring ul { margin: .2rem 0; padding-left: 1.2rem; } .ring small { color: var(--soft); }
        .link { border: 0; padding: 0; background: none; color: var(--mark); text-align: left; cursor: pointer;
          overflow-wrap: anywhere; vertical-align: top; }
        h3, .hint, #count { overflow-wrap: anywhere; }
        #filters { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; margin: .6rem 0; }
        input, select, button { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--line);
          border-radius: .4rem; padding: .3rem .5rem; }
        #search { flex: 1 1 14rem; } #count { color: var(--soft); }
        #columns { display: grid; grid-template-columns: minmax(0, 1.25fr) minmax(0, 1fr); gap: 1rem; align-items: start; }
        #detail { position: sticky; top: 1rem; max-height: calc(100vh - 2rem); overflow: auto; background: var(--card);
          border: 1px solid var(--line); border-radius: .5rem; padding: .9rem 1rem; }
        details { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; margin-bottom: .6rem; }
        summary { cursor: pointer; padding: .5rem .8rem; overflow-wrap: anywhere; }
        summary small { color: var(--soft); }
        .row { display: block; width: 100%; text-align: left; border: 0; border-top: 1px solid var(--line);
          border-radius: 0; padding: .4rem .8rem; background: none; cursor: pointer; }
        .row:hover { background: var(--code); } .row.chosen { background: var(--choice); }
        .row code { display: block; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
        .row .place { color: var(--soft); font-variant-numeric: tabular-nums; }
        .tag { border-radius: .6rem; padding: 0 .5rem; font-size: .8rem; white-space: nowrap; }
        .plain { background: var(--code); color: var(--soft); }
        code, pre { font: 13px/1.5 ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace; }
        p code, li code, td code { background: var(--code); border-radius: .25rem; padding: 0 .25rem; }
        pre { background: var(--code); border-radius: .4rem; padding: .6rem .8rem; overflow: auto; margin: .4rem 0; }
        table { border-collapse: collapse; width: 100%; font-size: .92rem; }
        td, th { border: 1px solid var(--line); padding: .25rem .5rem; text-align: left; vertical-align: top; }
        @media (max-width: 900px) { #columns { grid-template-columns: minmax(0, 1fr); }
          #detail { position: static; max-height: none; } }
        @media print { #filters, #detail { display: none; } #columns { display: block; } }
        """
}
