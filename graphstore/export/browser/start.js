// Puts the trace store's colours, saved scripts and read-only setting into Neo4j Browser's local storage, then
// goes on to Browser. Served from Browser's own origin, or it could not.
// In the address: dbms (the database), run (its id becomes $run), kit (where a guide to that run is: this machine).
// Without kit the guide for any run opens, by the server's own setting browser.post_connect_cmd.
"use strict";

const FOLDER = "graphstore-"; // the ids of our folders and scripts begin so; others are the person's own
const asked = new URLSearchParams(location.search);

function kept(name, otherwise) {
  try {
    return JSON.parse(localStorage.getItem("neo4j." + name)) ?? otherwise;
  } catch {
    return otherwise;
  }
}

function keep(name, value) {
  localStorage.setItem("neo4j." + name, JSON.stringify(value));
}

function kitAddress() {
  const kit = asked.get("kit");
  if (kit === null) return new URL(".", location.href).href;
  if (!/^http:\/\/localhost:\d+\/$/.test(kit)) throw new Error("the files are not on this machine: " + kit);
  return kit;
}

async function read(base, file) {
  const answer = await fetch(base + file);
  if (!answer.ok) throw new Error(file + ": " + answer.status);
  return answer.json();
}

function keepScripts(scripts) {
  const names = [...new Set(scripts.map((script) => script.folder))];
  const others = (list) => list.filter((item) => !String(item.id ?? "").startsWith(FOLDER));
  keep("folders", [...others(kept("folders", [])), ...names.map((name, i) => ({ id: FOLDER + i, name }))]);
  keep("documents", [
    ...others(kept("documents", [])),
    ...scripts.map((script, i) => ({
      id: FOLDER + "script-" + i,
      folder: FOLDER + names.indexOf(script.folder),
      content: "// " + script.name + "\n" + script.text,
    })),
  ]);
}

async function start() {
  const base = kitAddress();
  const run = asked.get("run");
  if (run !== null && !/^[A-Za-z0-9._-]{1,100}$/.test(run)) throw new Error("no run can be called " + run);
  keepScripts(await read(base, "queries.json"));
  keep("grass", { ...kept("grass", {}), ...(await read(base, "graphstore.grass")) });
  keep("settings", {
    ...kept("settings", {}),
    ...(run === null ? {} : { initCmd: ":param run => '" + run + "'" }),
    useReadTransactions: true,
    allowCrashReports: false,
    allowUserStats: false,
  });
  const words = new URLSearchParams();
  if (asked.get("dbms") !== null) words.set("dbms", asked.get("dbms"));
  if (asked.get("kit") !== null) {
    // Browser then runs none of the commands it has for the time after connecting: the guide needs none.
    words.set("cmd", "guide");
    words.set("arg", base + "guide.html");
  }
  location.replace("../?" + words.toString().replaceAll("+", "%20"));
}

start().catch((error) => {
  document.getElementById("state").textContent = "Not set up: " + error.message + ". Browser itself is at /browser/.";
});
