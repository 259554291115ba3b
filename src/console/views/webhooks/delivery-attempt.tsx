/** A delivery attempt: result, request headers and response. */
import { Status } from '../../components/status.tsx';
import { Time } from '../../components/time.tsx';
import { count } from '../../components/format.ts';
import { errorWords } from './delivery-words.ts';
import { useRights } from '../../console-context.tsx';
import type { Attempt } from './webhook-calls.ts';

export function DeliveryAttempt({ of: attempt, isOpen }: { readonly of: Attempt; readonly isOpen: boolean }) {
  const { number, startedAt, durationMs, statusCode, requestHeaders, responseExcerpt } = attempt;
  const error = errorWords(attempt);
  const { canWrite } = useRights();
  return (
    <details class="attempt" open={isOpen}>
      <summary>
        <span>Attempt {number}</span>
        <Status tone={error === null ? 'good' : 'bad'}>{statusCode === null ? 'No answer' : `${statusCode}`}</Status>
        <span class="muted">
          {count(durationMs)} ms, <Time at={startedAt} />
        </span>
      </summary>
      {error && <p class="attempt-error">{error}</p>}
      <h4>Sent</h4>
      <dl class="headers">
        {Object.entries(requestHeaders).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <h4>Answer</h4>
      {responseExcerpt ? (
        <pre class="excerpt" tabIndex={0}>
          {responseExcerpt}
        </pre>
      ) : (
        <p class="fine">{noExcerpt(statusCode, canWrite)}</p>
      )}
    </details>
  );
}

function noExcerpt(statusCode: number | null, canWrite: boolean): string {
  if (statusCode === null) return 'There was none.';
  if (canWrite) return `Status ${statusCode}, without a body.`;
  return `Status ${statusCode}. Answers are shown to admins and owners: they can contain names.`;
}
