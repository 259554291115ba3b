/** Counts committed events: sign-ins, mails, deliveries, exports. */
import { ERROR_CATALOGUE } from '../../core/error.ts';
import type { Metrics } from '../../core/metrics.ts';
import { SESSION_METHODS } from '../../core/sign-in-methods.ts';
import { AUDIT_RECORDED, type AuditRecord } from '../../store/audit.ts';
import { DELIVERY_ATTEMPTED, DELIVERY_FINISHED } from '../../store/deliveries.ts';
import { MAIL_RESULTS, MAIL_TRIED } from '../../store/mails.ts';
import { type CommitListener, onCommit } from '../module.ts';

const SUCCEEDED = 'succeeded';

export function eventCounters(metrics: Metrics): CommitListener[] {
  const signIns = metrics.counter(
    'gatehouse_sign_ins_total',
    'Sign-ins, by method and outcome: succeeded, or why one was refused.',
    { method: SESSION_METHODS, outcome: [SUCCEEDED, ...Object.keys(ERROR_CATALOGUE)] },
    { isSparse: true },
  );
  for (const method of SESSION_METHODS) signIns.cell(method, SUCCEEDED);
  const mails = metrics.counter('gatehouse_mails_total', 'Attempts to send a mail, by outcome.', {
    outcome: MAIL_RESULTS,
  });
  const attempts = metrics.counter('gatehouse_delivery_attempts_total', 'Attempts of webhook deliveries, by outcome.', {
    outcome: ['delivered', 'failed'],
  });
  const deliveries = metrics.counter('gatehouse_deliveries_total', 'Finished webhook deliveries, by outcome.', {
    outcome: ['delivered', 'failed'],
  });
  const exports = metrics.counter('gatehouse_account_exports_total', 'Exports of an account by its person.');

  function recorded({ kind, detail }: AuditRecord): void {
    const method = String(detail?.['method']);
    if (kind === 'signin.succeeded') signIns.inc(method, SUCCEEDED);
    else if (kind === 'signin.refused') signIns.inc(method, String(detail?.['reason']));
    else if (kind === 'signin.code_refused') signIns.inc('otp', String(detail?.['reason']));
    else if (kind === 'account.exported') exports.inc();
  }

  return [
    onCommit(AUDIT_RECORDED, (records) => records.forEach(recorded)),
    onCommit(MAIL_TRIED, (results) => results.forEach((result) => mails.inc(result))),
    onCommit(DELIVERY_ATTEMPTED, (tried) =>
      tried.forEach(({ isDelivered }) => attempts.inc(isDelivered ? 'delivered' : 'failed')),
    ),
    onCommit(DELIVERY_FINISHED, (ends) => ends.forEach((end) => deliveries.inc(end))),
  ];
}
