import { createTables } from '../sql/sql-tables.js';

/**
 * The statements that make the tables in a MySQL or MariaDB, for teams that run their migrations themselves: see the
 * option `migrate`. They change nothing where all is there.
 *
 * @example `for (const sql of mysqlMigrations()) await connection.query(sql)`
 */
export function mysqlMigrations(): readonly string[] {
  // names are compared byte by byte, and have no room in the row format of old servers
  return createTables(
    ', KEY (project, forget_at)',
    ' ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin',
  );
}
