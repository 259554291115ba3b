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
          summary: Gatehouse cannot write, its disk refuses changes
          description: Free space on the disk, or check its health (dmesg); /readyz names the problem.
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
