/* Zoom and pan: wheel or two fingers, drag, + - 0 and arrows, double click for all. A tap, a click or Tab chooses what is
 * told in full. */
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
    if (event.button || text) {
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
    var box = chosen && chosen.getBoundingClientRect();
    if (box && (box.right < 0 || box.bottom < 0 || box.left > window.innerWidth || box.top > window.innerHeight)) {
      pan((window.innerWidth - box.left - box.right) / 2, (window.innerHeight - box.top - box.bottom) / 2);
    }
    tell();
  });

  svg.addEventListener("focusout", function () {
    chosen = null;
    tell();
  });

  window.addEventListener("resize", tell);

  document.querySelectorAll(".node, .edge").forEach(function (e) {
    e.setAttribute("tabindex", e.classList.contains("node") ? "0" : "-1");
  });

  svg.setAttribute("width", "100%");
  svg.setAttribute("height", "100%");
  svg.style.touchAction = "none";
  svg.classList.add("standalone");
})();
