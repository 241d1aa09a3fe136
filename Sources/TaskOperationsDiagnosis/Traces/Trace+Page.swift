import TaskDump
import TaskOperations

extension Trace {
    /// The trace as one page of HTML that needs no network and no other file: a timeline to zoom, to move, and to search.
    /// A row for each permit shows the operations that held it. Linear in the size of the trace.
    public var timelineHTML: String {
        let critical = Set(criticalPath.map(\.operation))
        let ops = operations.enumerated().map { index, operation in
            "[\(operation.name.quotedForJSON),\(operation.queue),\(nanoseconds(operation.added)),"
                + "\(nanoseconds(operation.ready)),\"\(operation.outcome.rawValue)\",\(critical.contains(index) ? 1 : 0),"
                + "\(operation.number),[\(operation.dependencies.map(String.init).joined(separator: ","))]]"
        }
        let slices = operations.enumerated().flatMap { index, operation in
            operation.slices.map { "[\(index),\($0.lane),\(nanoseconds($0.start)),\(nanoseconds($0.end - $0.start))]" }
        }
        let rows = waiting.map { "[\($0.name.quotedForJSON),\($0.queue),\(nanoseconds($0.added)),\($0.number)]" }
        let names = queues.map { "[\($0.name.quotedForJSON),\($0.width.map(String.init) ?? "null"),\($0.laneCount)]" }
        return """
            <!doctype html>
            <html lang="en">
            <meta charset="utf-8">
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>Operations</title>
            <style>\(pageStyle)</style>
            <header><strong>\(operations.count) operations in \(TimeText.text(duration))</strong>
            <label>Search <input id="search" type="search" placeholder="name of an operation"></label>
            <span id="found" role="status"></span><button id="all" type="button">Show all</button>
            <small>Wheel or + and − zoom, dragging or the arrows move, 0 shows all.</small></header>
            <p id="legend"></p>
            <main id="view" tabindex="0" aria-label="Timeline"><div id="space"></div><canvas id="canvas"></canvas></main>
            <aside id="tip" hidden></aside>
            <details><summary>Explanation</summary><pre>\(explanation.escapedForMarkup)</pre></details>
            <script id="data" type="application/json">{"queues":[\(names.joined(separator: ","))],
            "ops":[\(ops.joined(separator: ",\n"))],"slices":[\(slices.joined(separator: ","))],
            "waiting":[\(rows.joined(separator: ","))],"begin":\(nanoseconds(beginning)),"length":\(nanoseconds(duration))}</script>
            <script>\(pageScript)</script>
            </html>

            """
    }

    private func nanoseconds(_ seconds: Double) -> Int { Int(max(-1e18, min(1e18, (seconds * 1e9).rounded()))) }
}

private let pageStyle = """
    :root{color-scheme:light dark;--page:#fff;--ink:#1f2328;--faint:#59636e;--rule:#d1d9e0;--row:#f6f8fa;--succeeded:#54aeff;
    --failed:#fa4549;--timedOut:#d4532c;--cancelled:#8c959f;--unfinished:#a475f9;--dependencyFailed:#bf8700;
    --critical:#0a0c10;--found:#ffdf5d;--bar:#0a0c10}
    @media (prefers-color-scheme:dark){:root{--page:#0d1117;--ink:#e6edf3;--faint:#9198a1;--rule:#3d444d;--row:#161b22;
    --succeeded:#1f6feb;--failed:#da3633;--timedOut:#db6d28;--cancelled:#6e7681;--unfinished:#8957e5;--dependencyFailed:#9e6a03;
    --critical:#f0f6fc;--found:#bb8009;--bar:#fff}}
    body{font:14px/1.4 system-ui,sans-serif;margin:1rem;background:var(--page);color:var(--ink)}
    header{display:flex;flex-wrap:wrap;gap:1rem;align-items:center}small{color:var(--faint)}pre{overflow:auto}
    #legend span{margin-right:1rem}#legend i{display:inline-block;width:.8em;height:.8em;margin-right:.3em;border-radius:2px}
    #view{position:relative;height:70vh;overflow-y:auto;border:1px solid var(--rule);outline-offset:2px}
    canvas{position:sticky;top:0;display:block;width:100%}#space{position:absolute;width:1px}
    #tip{position:fixed;max-width:40ch;padding:.4rem .6rem;background:var(--page);border:1px solid var(--rule);
    border-radius:4px;pointer-events:none;overflow-wrap:anywhere;white-space:pre-line;z-index:9}
    """

private let pageScript = """
    'use strict';(()=>{
    const D=JSON.parse(document.getElementById('data').textContent),$=i=>document.getElementById(i);
    const view=$('view'),canvas=$('canvas'),tip=$('tip'),pen=canvas.getContext('2d');
    const kinds=['succeeded','failed','timedOut','dependencyFailed','cancelled','unfinished'];
    const labels={critical:'on the critical path',timedOut:'timed out',dependencyFailed:'without input'};
    const css=n=>getComputedStyle(document.documentElement).getPropertyValue('--'+n).trim();
    for(const k of [...kinds,'critical']){const s=document.createElement('span'),i=document.createElement('i');
      i.style.background='var(--'+k+')';s.append(i,labels[k]??k);$('legend').append(s)}
    const left=170,head=20;let rows=[],top=24;
    D.queues.forEach((q,i)=>{const h=q[2]>64?6:q[2]>16?10:16;rows.push({y:top,h,lanes:Math.max(1,q[2])});top+=head+Math.max(1,q[2])*h+6});
    $('space').style.height=top+'px';
    // The slices of each lane, in the order of their beginnings.
    const lanes=D.queues.map(q=>Array.from({length:Math.max(1,q[2])},()=>[]));
    for(const s of D.slices)lanes[D.ops[s[0]][1]][s[1]].push(s);
    for(const q of lanes)for(const l of q)l.sort((a,b)=>a[2]-b[2]);
    const full=[D.begin,Math.max(1,D.length)];let from=full[0],length=full[1],match=new Set();
    const text=n=>{for(const [u,s] of [['s',1e9],['ms',1e6],['μs',1e3]])if(n>=s)return +(n/s).toPrecision(4)+' '+u;return Math.round(n)+' ns'};
    function after(l,t){let a=0,b=l.length;while(a<b){const m=a+b>>1;if(l[m][2]+l[m][3]<t)a=m+1;else b=m}return a}
    function draw(){
      const ratio=devicePixelRatio||1,w=view.clientWidth,h=view.clientHeight;
      if(canvas.width!=w*ratio||canvas.height!=h*ratio){canvas.width=w*ratio;canvas.height=h*ratio;canvas.style.height=h+'px'}
      pen.setTransform(ratio,0,0,ratio,0,0);pen.clearRect(0,0,w,h);
      const off=view.scrollTop,scale=(w-left-10)/length,colour={};for(const k of kinds)colour[k]=css(k);
      const ink=css('ink'),faint=css('faint'),rule=css('rule'),row=css('row'),mark=css('critical'),found=css('found'),bar=css('bar');
      pen.font='11px system-ui,sans-serif';pen.textBaseline='middle';
      let step=10**Math.floor(Math.log10(length/6));while(length/step>12)step*=2;
      pen.fillStyle=faint;pen.strokeStyle=rule;
      for(let t=Math.ceil((from-D.begin)/step)*step;t<=from-D.begin+length;t+=step){const x=left+(t+D.begin-from)*scale;
        pen.beginPath();pen.moveTo(x,16);pen.lineTo(x,h);pen.stroke();pen.fillText(text(t),x+2,8)}
      D.queues.forEach((q,i)=>{const r=rows[i],y0=r.y-off;if(y0>h||y0+head+r.lanes*r.h<0)return;
        pen.fillStyle=ink;pen.save();pen.beginPath();pen.rect(0,0,left-8,h);pen.clip();
        pen.fillText(q[0]+(q[1]==null?'':' ('+q[1]+')'),6,y0+head/2);pen.restore();
        lanes[i].forEach((l,n)=>{const y=y0+head+n*r.h;if(y>h||y+r.h<0)return;pen.fillStyle=row;pen.fillRect(left,y,w-left-10,r.h-1);
          let last=-1;
          for(let k=after(l,from);k<l.length&&l[k][2]<=from+length;k++){const s=l[k],o=D.ops[s[0]];
            let a=Math.max(left,left+(s[2]-from)*scale),b=Math.min(w-10,left+(s[2]+s[3]-from)*scale);
            const is=match.size&&match.has(s[0]);
            // A pixel is drawn once, unless an operation in it was searched for.
            if(b<=last+.5&&!is)continue;b=Math.max(b,a+1);last=Math.max(last,b);
            pen.fillStyle=is?found:colour[o[4]]||ink;pen.fillRect(a,y,b-a,r.h-1);
            if(o[5]){pen.fillStyle=mark;pen.fillRect(a,y+r.h-4,b-a,3)}
            if(b-a>30&&r.h>=10){pen.fillStyle=is?'#000':bar;pen.save();pen.beginPath();pen.rect(a,y,b-a-2,r.h);pen.clip();
              pen.fillText(o[0],a+3,y+r.h/2);pen.restore()}}})});
      document.body.dataset.drawn=1}
    function zoom(f,x){const w=view.clientWidth-left-10,p=Math.min(1,Math.max(0,(x-left)/w)),n=Math.min(full[1]*1.1,Math.max(20,length*f));
      move(from+(length-n)*p,n)}
    function move(a,n=length){length=n;from=Math.min(full[0]+full[1]*1.05-n*.05,Math.max(full[0]-n*.95,a));draw()}
    function at(e){const b=view.getBoundingClientRect(),x=e.clientX-b.left,y=e.clientY-b.top+view.scrollTop,t=from+(x-left)*length/(view.clientWidth-left-10);
      const i=rows.findIndex((r,i)=>y>=r.y+head&&y<r.y+head+r.lanes*r.h);if(i<0||x<left)return;
      const l=lanes[i][Math.floor((y-rows[i].y-head)/rows[i].h)],near=2*length/view.clientWidth;if(!l)return;
      const s=l[after(l,t-near)];return s&&s[2]<=t+near?s:undefined}
    function say(s){const o=D.ops[s[0]],q=D.queues[o[1]][0],total=D.slices.length<5e4?D.slices.filter(x=>x[0]==s[0]).reduce((n,x)=>n+x[3],0):s[3];
      return o[0]+'\\n'+q+', number '+o[6]+', '+o[4]+'\\nwaited '+text(o[3]-o[2])+' for dependencies, '+text(Math.max(0,s[2]-o[3]))+' for a permit\\nexecuted '+text(total)
        +(o[7].length?'\\nafter '+o[7].slice(0,5).map(d=>D.ops[d][0]).join(', '):'')}
    view.addEventListener('wheel',e=>{if(e.shiftKey)return;e.preventDefault();zoom(Math.exp(e.deltaY/500),e.clientX-view.getBoundingClientRect().left)},{passive:false});
    let drag;view.addEventListener('pointerdown',e=>{drag={x:e.clientX,y:e.clientY,from,top:view.scrollTop};view.setPointerCapture(e.pointerId)});
    view.addEventListener('pointerup',()=>drag=undefined);
    view.addEventListener('pointermove',e=>{if(drag){view.scrollTop=drag.top-(e.clientY-drag.y);
        move(drag.from-(e.clientX-drag.x)*length/(view.clientWidth-left-10));tip.hidden=true;return}
      const s=at(e);tip.hidden=!s;if(s){tip.textContent=say(s);tip.style.left=Math.min(innerWidth-330,e.clientX+12)+'px';tip.style.top=Math.min(innerHeight-120,e.clientY+12)+'px'}});
    view.addEventListener('pointerleave',()=>tip.hidden=true);view.addEventListener('scroll',draw);addEventListener('resize',draw);
    matchMedia('(prefers-color-scheme:dark)').addEventListener('change',draw);
    view.addEventListener('keydown',e=>{const m=view.clientWidth/2,k={'+':()=>zoom(.7,m),'=':()=>zoom(.7,m),'-':()=>zoom(1.4,m),
      ArrowLeft:()=>move(from-length/5),ArrowRight:()=>move(from+length/5),0:()=>move(...full)}[e.key];if(k){e.preventDefault();k()}});
    $('all').onclick=()=>move(...full);
    $('search').oninput=e=>{const t=e.target.value.toLowerCase();match=new Set();
      if(t)D.ops.forEach((o,i)=>{if(o[0].toLowerCase().includes(t))match.add(i)});
      const waits=t?D.waiting.filter(o=>o[0].toLowerCase().includes(t)).length:0;
      $('found').textContent=t?match.size+' found'+(waits?', '+waits+' not started':''):'';
      const first=match.values().next().value;
      if(first!==undefined){const s=D.slices.find(s=>s[0]==first);if(s){view.scrollTop=Math.max(0,rows[D.ops[first][1]].y-40);
        if(s[2]<from||s[2]>from+length)return move(s[2]-length/2)}}draw()};
    draw()})();
    """
