import type { SqlDatabase } from "./sql-database.ts";

/** The same database, telling of each call that failed. */
export function countingErrors(database: SqlDatabase, onError: () => void): SqlDatabase {
  const told = async <T>(call: Promise<T>): Promise<T> => {
    try {
      return await call;
    } catch (error) {
      onError();
      throw error;
    }
  };
  return {
    forUpdate: database.forUpdate,
    membersOf: (parameter, type) => database.membersOf(parameter, type),
    all: (sql, parameters) => told(database.all(sql, parameters)),
    insertNew: (into, rows) => told(database.insertNew(into, rows)),
    transaction: (use) => told(database.transaction(use)),
    close: () => database.close(),
  };
}
