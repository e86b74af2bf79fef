-- one row for each report: $3 is run.fencingToken
INSERT INTO report (id, body, fencing_token) VALUES ($1, $2, $3)
ON CONFLICT (id) DO UPDATE SET body = excluded.body, fencing_token = excluded.fencing_token
WHERE report.fencing_token <= excluded.fencing_token;

-- only new rows: job_token has one row for each job, with its newest token, $2
WITH newest AS (
  INSERT INTO job_token (job, fencing_token) VALUES ($1, $2)
  ON CONFLICT (job) DO UPDATE SET fencing_token = excluded.fencing_token
  WHERE job_token.fencing_token <= excluded.fencing_token
  RETURNING job
)
INSERT INTO price (at, amount) SELECT $3::timestamptz, $4::numeric FROM newest;
