// Which page this is, and what keeps it up to date: a report shows what stands in its file, a viewer asks and listens.

function show(bar, page) {
  document.getElementById("page").replaceChildren(h("a", { class: "skip", href: "#main" }, "to the content"), bar, build(page, { id: "main" }, []));
}

function showFailure(message) {
  show(topBar([["runs", "/"]]), h("main", {}, h("section", { class: "panel" }, h("p", { class: "empty" }, message))));
}

// Calls back with what has changed, by id; where there is no stream to be had, it asks for all now and then.
function listen(onChange) {
  const stream = new EventSource("/api/events");
  stream.onmessage = (event) => onChange(new Map(JSON.parse(event.data).map((each) => [each.id, each])));
  stream.onerror = () => {
    if (stream.readyState !== EventSource.CLOSED) return;
    setTimeout(() => {
      onChange(null);
      listen(onChange);
    }, 8000);
  };
}

// One call at a time; what is asked for meanwhile is done once more afterwards.
function oneAtATime(work) {
  let busy = false;
  let again = false;
  return async () => {
    if (busy) {
      again = true;
      return;
    }
    busy = true;
    do {
      again = false;
      try {
        await work();
      } catch { /* the viewer is gone or comes back: the page stays as it is */ }
      await new Promise((done) => setTimeout(done, 400));
    } while (again);
    busy = false;
  };
}

async function startRun(id) {
  const run = new Run(await askFor(`/api/runs/${id}`), new ServedTexts(id));
  const { page, refresh, bar } = runPage(run, true);
  show(bar, page);
  let mark = run.run.updated_at;
  const update = oneAtATime(async () => {
    const wasBest = run.best ? run.best.index : -1;
    const follows = run.selected === wasBest;
    run.take(await askFor(`/api/runs/${id}?from=${run.kernels.length}`));
    bar.replaceChildren(...topBar([["runs", "/"], [`run ${run.run.id}`, null]], stateBadge(run.run)).childNodes);
    refresh();
    if (follows && run.best && run.best.index !== wasBest) run.select(run.best.index, "live");
    mark = run.run.updated_at;
  });
  listen((changed) => {
    const news = changed ? changed.get(id) : { updated_at: "?" };
    if (news && (news.updated_at !== mark || news.individuals > run.kernels.length)) update();
  });
}

async function startList() {
  const list = new RunList((await askFor("/api/runs")).runs);
  show(topBar([["runs", null]]), list.page);
  const update = oneAtATime(async () => list.take((await askFor("/api/runs")).runs));
  let isFirst = true;
  listen(() => {
    if (!isFirst) update();
    isFirst = false;
  });
}

async function startComparison() {
  const asked = new URLSearchParams(location.search);
  const ids = ["a", "b"].map((name) => asked.get(name) || "");
  if (!ids.every((id) => /^\d{1,17}$/.test(id))) return showFailure("pick two runs in the list to compare them");
  const runs = await Promise.all(ids.map(async (id) => new Run(await askFor(`/api/runs/${id}`), new ServedTexts(id))));
  show(topBar([["runs", "/"], ["compare", null]]), comparePage(...runs));
}

async function start() {
  const island = document.getElementById("data");
  if (island) {
    const data = JSON.parse(island.textContent);
    if (data.suite) return show(topBar([["bench", null]]), suitePage(data));
    const run = new Run(data, new FileTexts());
    const { page, bar } = runPage(run, false);
    return show(bar, page);
  }
  try {
    const run = /^\/runs\/(\d+)$/.exec(location.pathname);
    if (run) await startRun(run[1]);
    else if (location.pathname === "/compare") await startComparison();
    else await startList();
  } catch (error) {
    showFailure(error.message);
  }
}

start();
