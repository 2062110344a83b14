// One page is shown at a time, by what stands behind # in the address: PAGE or PAGE/HEADING. Without scripts all are shown.
const pages = [...document.querySelectorAll('article')];
const box = document.querySelector('input');
const results = document.querySelector('#results');
const words = text => text.toLowerCase().split(/\s+/).filter(Boolean);

// What can be found: each paragraph, row and block of code below the heading that it stands under.
const parts = [];
for (const page of pages) {
  let heading = page.querySelector('h1');
  for (const part of page.querySelectorAll('h1, h2, h3, p, li, tr, pre')) {
    if (/^H/.test(part.tagName)) heading = part;
    const text = part.cells ? [...part.cells].map(cell => cell.textContent).join(' | ') : part.textContent;
    parts.push({ page, heading, text, low: text.toLowerCase(), head: /^H/.test(part.tagName) });
  }
}

function show() {
  const id = decodeURIComponent(location.hash.slice(1));
  const page = document.getElementById(id.replace(/^((?:internals\/)?[^/]*).*/, '$1')) ?? pages[0];
  results.replaceChildren();
  for (const one of pages) one.classList.toggle('here', one === page);
  for (const link of document.querySelectorAll('nav a')) link.classList.toggle('here', link.hash === '#' + page.id);
  document.title = page.querySelector('h1').textContent;
  const place = document.getElementById(id);
  // Behind the browser's own jump to what has the name.
  requestAnimationFrame(() => place && place !== page ? place.scrollIntoView() : scrollTo(0, 0));
}

function marked(text, asked) {
  const at = Math.max(0, Math.min(...asked.map(word => text.toLowerCase().indexOf(word)).filter(n => n >= 0)) - 60);
  const shown = (at ? '... ' : '') + text.slice(at, at + 220).replace(/\s+/g, ' ');
  const line = document.createElement('p');
  let rest = shown;
  const any = new RegExp(asked.map(word => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|'), 'i');
  for (let hit; (hit = any.exec(rest));) {
    line.append(rest.slice(0, hit.index), Object.assign(document.createElement('mark'), { textContent: hit[0] }));
    rest = rest.slice(hit.index + hit[0].length);
  }
  line.append(rest);
  return line;
}

function search() {
  const asked = words(box.value);
  if (!asked.length) return show();
  for (const page of pages) page.classList.remove('here');
  const hits = parts.filter(part => asked.every(word => part.low.includes(word)));
  hits.sort((a, b) => b.head - a.head);
  const head = document.createElement('h1');
  head.textContent = hits.length ? `${hits.length} places` : 'Nothing has all of these words';
  results.replaceChildren(head);
  for (const { page, heading, text } of hits.slice(0, 60)) {
    const one = document.createElement('div');
    const link = document.createElement('a');
    one.className = 'found';
    link.href = '#' + (heading.id || page.id);
    link.textContent = page.querySelector('h1').textContent + (heading.tagName === 'H1' ? '' : ' - ' + heading.textContent);
    link.onclick = () => { box.value = ''; if (location.hash === link.hash) show(); };
    one.append(link, marked(text, asked));
    results.append(one);
  }
}

document.documentElement.classList.add('one');
addEventListener('hashchange', () => { box.value = ''; show(); });
box.oninput = search;
addEventListener('keydown', event => {
  if (event.key === '/' && document.activeElement !== box) { event.preventDefault(); box.focus(); }
});
show();
