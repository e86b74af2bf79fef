/**
 * The statements that make the tables. Times are milliseconds since the epoch by the clock of the server. `index` and
 * `options` are those of MySQL.
 */
export function createTables(index = '', options = ''): readonly string[] {
  return Object.entries({
    // which data this is, one row for each project
    incarnations:
      'project VARCHAR(190) PRIMARY KEY, server VARCHAR(255) NOT NULL, since BIGINT NOT NULL, is_first BOOLEAN NOT NULL',
    // which replicas are alive
    leases: 'project VARCHAR(190), id VARCHAR(300), ends_at BIGINT NOT NULL, PRIMARY KEY (project, id)',
    // who leads, one row for each job and lock, and the last hint
    records: `project VARCHAR(190), name VARCHAR(550), revision BIGINT NOT NULL, value LONGTEXT NOT NULL, forget_at BIGINT,
  PRIMARY KEY (project, name)${index}`,
  }).map(([name, columns]) => `CREATE TABLE IF NOT EXISTS singleton_job_${name} (${columns})${options}`);
}
