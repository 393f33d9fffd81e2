// The page of `kairos run --scope`: its data are within it.

import { Debugger } from "./debugger.js";
import { Scope } from "./scope.js";

async function unpacked(id) {
  const packed = await fetch(`data:application/octet-stream;base64,${document.getElementById(id).textContent}`);
  return new Response(packed.body.pipeThrough(new DecompressionStream("deflate"))).arrayBuffer();
}

Promise.all(["lanes", "arrays"].map(unpacked)).then(([packed, arrays]) => {
  const content = JSON.parse(new TextDecoder().decode(packed));
  const scope = window.scope = new Scope(content, arrays, document.body, document);
  if (content.steps) scope.debugger = new Debugger(scope, content, arrays);
});
