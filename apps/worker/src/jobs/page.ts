/** The page of the jobs: it reads `/overview` every 2 s, and its buttons call the routes of the jobs. */
export const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Jobs</title>
<style>
  body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; }
  .scroll { overflow-x: auto; }
  table { border-collapse: collapse; width: 100%; }
  th, td { border-bottom: 1px solid #ccc; padding: .5rem; text-align: left; vertical-align: top; }
  td.failed { color: #a00000; }
  button, input { font: inherit; margin-right: .25rem; max-width: 100%; }
  [role=alert] { color: #a00000; }
  [role=alert], [role=status] { min-height: 1.5em; }
</style>
</head>
<body>
<h1>Jobs</h1>
<p>
  <label>Reason <input name="reason" maxlength="200"></label>
  <label>Until <input name="until" size="5" placeholder="2h"></label>
  <button data-action="pause">Pause all</button><button data-action="resume">Resume all</button>
</p>
<p role="alert"></p>
<p role="status"></p>
<div class="scroll">
<table>
  <thead><tr><th>Job</th><th>Schedule</th><th>Leader</th><th>Last run</th><th>Next ticks</th><th>Actions</th></tr></thead>
  <tbody></tbody>
</table>
</div>
<script type="module">
  const body = document.querySelector('tbody');
  const alert = document.querySelector('[role=alert]');
  const status = document.querySelector('[role=status]');
  const time = (iso) => (iso === null ? '' : new Date(iso).toLocaleString());

  function cell(row, text, className = '') {
    const td = row.insertCell();
    td.textContent = text;
    td.className = className;
  }

  function lastRun({ lastRun: run }) {
    return run === null ? 'none known' : end(run);
  }

  function end(run) {
    if (run.outcome === null) return 'began ' + time(run.startedAt) + ' on ' + run.by + ', not ended';
    return run.outcome + ' ' + time(run.endedAt) + ' on ' + run.by + (run.error === null ? '' : ': ' + run.error);
  }

  function pauseOf({ pausedAt, pausedUntil, pauseReason, pauseScope }) {
    const until = pausedUntil === null ? '' : ' until ' + time(pausedUntil);
    return (pauseScope === 'all' ? 'paused (all)' : 'paused') + ' since ' + time(pausedAt) + until + (pauseReason === null ? '' : ': ' + pauseReason);
  }

  function button(row, name, action, label) {
    const element = document.createElement('button');
    element.textContent = label;
    element.addEventListener('click', () => act(name, encodeURIComponent(name) + '/' + action));
    row.lastElementChild.append(element);
  }

  function show(job) {
    const row = body.insertRow();
    cell(row, job.name);
    cell(row, job.schedule);
    cell(row, job.pausedAt === null ? (job.leader ?? 'none') : pauseOf(job));
    cell(row, lastRun(job), job.lastRun?.outcome ?? '');
    cell(row, job.nextTimes.map(time).join(', '));
    cell(row, '');
    button(row, job.name, 'trigger?wait=1m', 'Run now');
    if (job.pausedAt === null) button(row, job.name, 'pause', 'Pause');
    else if (job.pauseScope === 'job') button(row, job.name, 'resume', 'Resume');
  }

  // the inputs are about a pause
  function withInputs(path) {
    if (!path.endsWith('pause')) return path;
    const given = [...document.querySelectorAll('input')].filter(({ value }) => value !== '');
    return path + '?' + new URLSearchParams(given.map(({ name, value }) => [name, value]));
  }

  async function act(name, path) {
    const response = await fetch('/jobs/' + withInputs(path), { method: 'POST' });
    const answer = response.status === 204 ? {} : await response.json();
    alert.textContent = response.ok ? '' : name + ': ' + (answer.reason ?? answer.message);
    status.textContent = answer.started === true ? name + ': ' + end(answer) : '';
    await read();
  }

  async function read() {
    try {
      const response = await fetch('/overview');
      const answer = await response.json();
      if (!response.ok) throw new Error(answer.message);
      // a button that is being used keeps its place
      const focused = document.activeElement?.closest('tr')?.rowIndex;
      const label = document.activeElement?.textContent;
      body.replaceChildren();
      answer.forEach(show);
      if (focused !== undefined) [...document.querySelectorAll('tr')[focused].querySelectorAll('button')].find((each) => each.textContent === label)?.focus();
    } catch (error) {
      alert.textContent = 'No overview: ' + error.message;
    }
  }

  for (const element of document.querySelectorAll('[data-action]'))
    element.addEventListener('click', () => act('all jobs', element.dataset.action));
  await read();
  setInterval(read, 2_000);
</script>
</body>
</html>
`;
