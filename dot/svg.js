/* Zoom and pan: wheel or two fingers, drag, + - 0 and arrows, double click for all. A tap, a click or Tab chooses what is
 * told in full; it, or else what the mouse points at, shows its callers and callees. / searches. */
(function () {
  "use strict";
  var svg = document.documentElement;
  if (svg.localName !== "svg") {
    return; /* a part of another page, which has its own ways */
  }
  var all = svg.viewBox.baseVal;
  all = { x: all.x, y: all.y, width: all.width, height: all.height };
  var view = Object.assign({}, all);
  var fingers = new Map();
  var moved = false;

  /* What was chosen, by a tap, a click or the Tab key, is told in the window's corner. */
  var xhtml = "http://www.w3.org/1999/xhtml";
  var chosen = null;
  var corner = document.createElementNS(svg.namespaceURI, "foreignObject");
  var words = document.createElementNS(xhtml, "pre");
  corner.setAttribute("class", "chosen");
  corner.appendChild(document.createElementNS(xhtml, "div")).appendChild(words);

  function tell() {
    if (!chosen) {
      corner.remove();
      return;
    }
    var at = point(0, 0), unit = 1 / svg.getScreenCTM().a;
    words.textContent = chosen.querySelector("title").textContent;
    corner.setAttribute("transform", "translate(" + at.x + " " + at.y + ") scale(" + unit + ")");
    corner.setAttribute("width", window.innerWidth);
    corner.setAttribute("height", window.innerHeight);
    svg.appendChild(corner);
  }

  function show() {
    svg.setAttribute("viewBox", [view.x, view.y, view.width, view.height].join(" "));
    tell();
    placeSearch();
  }

  /* A point of the window in the picture's own units. */
  function point(x, y) {
    return new DOMPoint(x, y).matrixTransform(svg.getScreenCTM().inverse());
  }

  function zoom(factor, x, y) {
    var width = Math.min(Math.max(view.width / factor, all.width / 400), all.width * 4);
    var scale = width / view.width;
    var at = point(x, y);
    view.x = at.x - (at.x - view.x) * scale;
    view.y = at.y - (at.y - view.y) * scale;
    view.width = width;
    view.height *= scale;
    show();
  }

  function pan(dx, dy) {
    var unit = 1 / svg.getScreenCTM().a;
    view.x -= dx * unit;
    view.y -= dy * unit;
    show();
  }

  /* ---- Callers and callees ---- */

  var pointed = null;

  /* "12" of a class "n12", "from-12" or "to-12". */
  function numberOf(e, prefix) {
    var found = e.getAttribute("class").match("(?:^| )" + prefix + "([0-9]+)(?: |$)");
    return found ? found[1] : "";
  }

  function unmark(names) {
    names.forEach(function (name) {
      document.querySelectorAll("." + name).forEach(function (e) {
        e.classList.remove(name);
      });
    });
  }

  function markEdge(e, node) {
    var from = numberOf(e, "from-"), to = numberOf(e, "to-");
    if (from === node || to === node) {
      e.classList.add(to === node ? "caller" : "callee");
      document.querySelector(".node.n" + (to === node ? from : to)).classList.add(to === node ? "caller" : "callee");
    }
  }

  function mark() {
    var at = pointed || chosen;
    unmark(["at", "caller", "callee"]);
    svg.classList.toggle("pointing", Boolean(at));
    if (!at) {
      return;
    }
    at.classList.add("at");
    if (at.classList.contains("node")) {
      document.querySelectorAll(".edge").forEach(function (e) {
        markEdge(e, numberOf(at, "n"));
      });
    } else {
      document.querySelector(".node.n" + numberOf(at, "from-")).classList.add("caller");
      document.querySelector(".node.n" + numberOf(at, "to-")).classList.add("callee");
    }
  }

  function pointAt(e) {
    if (pointed !== e) {
      pointed = e;
      mark();
    }
  }

  svg.addEventListener("pointerover", function (event) {
    if (event.pointerType === "mouse" && !fingers.size) {
      pointAt(event.target.closest(".node, .edge"));
    }
  });

  svg.addEventListener("pointerleave", function () {
    pointAt(null);
  });

  /* ---- Search ---- */

  var desk = document.createElementNS(svg.namespaceURI, "foreignObject");
  var search = document.createElementNS(xhtml, "input");
  var count = document.createElementNS(xhtml, "span");
  var matches = [];
  var next = 0;

  function placeSearch() {
    var at = point(window.innerWidth - 300, 8), unit = 1 / svg.getScreenCTM().a;
    desk.setAttribute("transform", "translate(" + at.x + " " + at.y + ") scale(" + unit + ")");
  }

  function find() {
    var text = search.value.trim().toLowerCase();
    unmark(["match"]);
    svg.classList.toggle("searching", text !== "");
    matches = Array.from(document.querySelectorAll(".node")).filter(function (e) {
      return text && e.querySelector("title").textContent.toLowerCase().includes(text);
    });
    matches.forEach(function (e) {
      e.classList.add("match");
    });
    next = 0;
    count.textContent = text ? matches.length + (matches.length === 1 ? " box" : " boxes") : "";
  }

  /* The next match in the middle of the window, big enough to be read. */
  function go() {
    if (!matches.length) {
      return;
    }
    var e = matches[next++ % matches.length], box = e.getBoundingClientRect();
    if (box.height < 40) {
      zoom(40 / box.height, (box.left + box.right) / 2, (box.top + box.bottom) / 2);
      box = e.getBoundingClientRect();
    }
    pan((window.innerWidth - box.left - box.right) / 2, (window.innerHeight - box.top - box.bottom) / 2);
    count.textContent = ((next - 1) % matches.length + 1) + " of " + matches.length;
    pointAt(e);
  }

  function openSearch() {
    desk.setAttribute("class", "search");
    desk.setAttribute("width", 300);
    desk.setAttribute("height", 48);
    search.setAttribute("type", "search");
    search.setAttribute("placeholder", "search: /");
    search.setAttribute("aria-label", "search for a function, file or library");
    var box = desk.appendChild(document.createElementNS(xhtml, "div"));
    box.appendChild(count);
    box.appendChild(search);
    search.addEventListener("input", find);
    search.addEventListener("keydown", function (event) {
      event.stopPropagation();
      if (event.key === "Enter") {
        go();
      } else if (event.key === "Escape") {
        search.value = "";
        find();
        pointAt(null);
        search.blur();
      }
    });
    svg.appendChild(desk);
    placeSearch();
  }

  function reset() {
    view = Object.assign({}, all);
    show();
  }

  /* The middle of the fingers, and how far apart they are. */
  function pinch() {
    var f = Array.from(fingers.values());
    return { x: (f[0].x + f[1].x) / 2, y: (f[0].y + f[1].y) / 2, far: Math.hypot(f[0].x - f[1].x, f[0].y - f[1].y) };
  }

  svg.addEventListener("wheel", function (event) {
    event.preventDefault();
    zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), event.clientX, event.clientY);
  }, { passive: false });

  svg.addEventListener("pointerdown", function (event) {
    var text = event.pointerType === "mouse" && event.target.closest("text");
    if (event.button || text || event.target.closest(".search")) {
      return; /* text is for selecting */
    }
    fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    moved = false;
  });

  svg.addEventListener("pointermove", function (event) {
    var last = fingers.get(event.pointerId);
    if (!last) {
      return;
    }
    if (!moved) {
      moved = true;
      svg.setPointerCapture(event.pointerId);
      svg.classList.add("moving");
    }
    var before = fingers.size === 2 && pinch();
    fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    if (before) {
      var now = pinch();
      pan(now.x - before.x, now.y - before.y);
      zoom(now.far / (before.far || 1), now.x, now.y);
    } else if (fingers.size === 1) {
      pan(event.clientX - last.x, event.clientY - last.y);
    }
  });

  ["pointerup", "pointercancel"].forEach(function (name) {
    svg.addEventListener(name, function (event) {
      fingers.delete(event.pointerId);
      svg.classList.remove("moving");
    });
  });

  svg.addEventListener("dblclick", function (event) {
    if (!event.target.closest("text")) {
      reset();
    }
  });

  document.addEventListener("keydown", function (event) {
    var x = window.innerWidth / 2, y = window.innerHeight / 2, step = 60;
    var keys = {
      "+": function () { zoom(1.25, x, y); },
      "=": function () { zoom(1.25, x, y); },
      "-": function () { zoom(0.8, x, y); },
      "0": reset,
      "/": function () { search.focus(); },
      Escape: function () { document.activeElement.blur(); },
      ArrowLeft: function () { pan(step, 0); },
      ArrowRight: function () { pan(-step, 0); },
      ArrowUp: function () { pan(0, step); },
      ArrowDown: function () { pan(0, -step); }
    };
    if (keys[event.key] && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      keys[event.key]();
    }
  });

  svg.addEventListener("focusin", function (event) {
    chosen = event.target.closest(".node, .edge");
    mark();
    var box = chosen && chosen.getBoundingClientRect();
    if (box && (box.right < 0 || box.bottom < 0 || box.left > window.innerWidth || box.top > window.innerHeight)) {
      pan((window.innerWidth - box.left - box.right) / 2, (window.innerHeight - box.top - box.bottom) / 2);
    }
    tell();
  });

  svg.addEventListener("focusout", function () {
    chosen = null;
    mark();
    tell();
  });

  window.addEventListener("resize", function () {
    tell();
    placeSearch();
  });

  document.querySelectorAll(".node, .edge").forEach(function (e) {
    e.setAttribute("tabindex", e.classList.contains("node") ? "0" : "-1");
  });

  svg.setAttribute("width", "100%");
  svg.setAttribute("height", "100%");
  svg.style.touchAction = "none";
  svg.classList.add("standalone");
  openSearch();
})();
