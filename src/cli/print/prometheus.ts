/** Generates the Prometheus scrape example and the alert rules. */

/** Thresholds match the warnings of the console's health view. */
export const prometheus =
  (): string => `# Alert rules for Gatehouse: a file that rule_files in prometheus.yml names. Beside it, there:
#
#   scrape_configs:
#     - job_name: gatehouse
#       authorization:
#         credentials_file: /etc/prometheus/gatehouse-token   # the same as GATEHOUSE_METRICS_TOKEN of the server
#       static_configs:
#         - targets: ['127.0.0.1:8080']
groups:
  - name: gatehouse
    rules:
      - alert: GatehouseDown
        expr: up{job="gatehouse"} == 0 or absent(up{job="gatehouse"})
        for: 2m
        labels: { severity: page }
        annotations:
          summary: Gatehouse does not answer
          description: Check whether the process runs and how its log ends; a wrong token looks the same.
      - alert: GatehouseDiskRefusesWrites
        expr: increase(gatehouse_database_flush_failures_total[10m]) > 0 or gatehouse_database_writable == 0
        labels: { severity: page }
        annotations:
          summary: Gatehouse cannot write, its disk refuses changes or its database server is away
          description: /readyz names the problem. Check the disk (space, dmesg), or the server and the network to it.
      - alert: GatehouseDatabaseConflicts
        expr: >-
          rate(gatehouse_database_conflicts_total[10m]) > 1
          and rate(gatehouse_database_conflicts_total[10m]) > 0.2 * rate(gatehouse_database_changes_total[10m])
        for: 15m
        labels: { severity: warn }
        annotations:
          summary: More than a fifth of the changes on PostgreSQL run again because of concurrent ones
          description: Look for imports or applies that run at the same time, and for slow statements in the log.
      - alert: GatehouseDatabaseConnections
        expr: >-
          gatehouse_database_server_connections > 0.8 * gatehouse_database_server_connections_max
          or rate(gatehouse_database_connection_wait_seconds_sum[10m])
          / rate(gatehouse_database_connection_wait_seconds_count[10m]) > 0.1
        for: 10m
        labels: { severity: warn }
        annotations:
          summary: PostgreSQL runs out of connections, or changes wait for one
          description: Raise GATEHOUSE_DATABASE_POOL where the server has connections left; else use PgBouncer.
      - alert: GatehouseStandbyLate
        expr: gatehouse_database_standby_lag_seconds > 60 or gatehouse_database_standby_lag_bytes > 67108864
        for: 5m
        labels: { severity: warn }
        annotations:
          summary: A standby of PostgreSQL is behind, a failover would lose changes or wait
          description: Check the disk of the standby, its network and long queries on it (pg_stat_replication).
      - alert: GatehouseDiskFills
        expr: >-
          gatehouse_database_disk_free_bytes < 1073741824
          or predict_linear(gatehouse_database_disk_free_bytes[6h], 86400) < 0
          or gatehouse_database_wal_bytes > 134217728
        for: 15m
        labels: { severity: warn }
        annotations:
          summary: The disk of Gatehouse fills up, or its write-ahead log does not shrink
          description: Free space. A log that stays long has a reader that never ends, such as a backup that hangs.
      - alert: GatehouseMailLate
        expr: max by (instance) (gatehouse_mails_oldest_due_seconds{lane!="bulk"}) > 600
        for: 5m
        labels: { severity: page }
        annotations:
          summary: Mails are late, sign-in codes among them
          description: See the mail server's answer in the log, and send a test mail from the console.
      - alert: GatehouseDeliveriesLate
        expr: gatehouse_deliveries_oldest_due_seconds > 900
        for: 5m
        labels: { severity: warn }
        annotations:
          summary: Deliveries to webhooks are late
          description: See the attempts of the endpoints in the console; a slow one delays only its own.
`;
