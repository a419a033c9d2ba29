import { createServer } from "node:http";
import { DatabaseSync } from "node:sqlite";

/**
 * The floor of accepting a pack: reads a body and stores it, durably. The argument is the database's file; prints its
 * port.
 */
const database = new DatabaseSync(process.argv[2] ?? "");
database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
database.exec("CREATE TABLE bodies (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL)");
const insert = database.prepare("INSERT INTO bodies (bytes) VALUES (?)");

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    insert.run(Buffer.concat(chunks));
    response.writeHead(201).end();
  });
}).listen(0, "127.0.0.1", () => {
  const address = server.address();
  console.log(typeof address === "object" ? address?.port : address);
});
