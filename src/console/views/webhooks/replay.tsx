/** Sending every failed event of an endpoint again: the count first, then the progress, then what was done. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { SelectField } from '../../../pages/components/select-field.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { count, counted, exactTime } from '../../components/format.ts';
import { Progress } from '../../components/progress.tsx';
import { useLoaded } from '../../data.ts';
import { useEvery } from '../../refresh.ts';
import type { Replay, WebhookCalls } from './webhook-calls.ts';

const HOUR = 3_600_000;
const SINCE = [
  { value: '1', label: 'The last hour' },
  { value: '24', label: 'The last 24 hours' },
  { value: '168', label: 'The last 7 days' },
  { value: '720', label: 'The last 30 days' },
];
/** Above it, events are not counted. */
const MOST_COUNTED = 10_000;

const wordsOf = (events: number) =>
  events >= MOST_COUNTED ? `${count(MOST_COUNTED)} events or more` : counted(events, 'event');

/** @param events null while they are counted. */
function countWords(events: number | null, since: string): string {
  if (events === null) return 'Counting …';
  if (events === 0) return 'Every event that failed since then was sent again.';
  return `${wordsOf(events)} since ${exactTime(since)}.`;
}

export const sentAgainWords = ({ events }: Replay) => `${wordsOf(events ?? 0)} on the way again.`;

interface ReplayDialogProps {
  readonly webhookId: string;
  readonly calls: WebhookCalls;
  readonly onStarted: (replay: Replay) => unknown;
}

export function ReplayDialog({ webhookId, calls, onStarted }: ReplayDialogProps) {
  const [openedAt] = useState(Date.now);
  const [hours, setHours] = useState('24');
  const since = new Date(openedAt - Number(hours) * HOUR).toISOString();
  const replay = useLoaded(() => calls.countReplay(webhookId, since), [since]);
  const events = replay.data?.events ?? null;
  return (
    <FormDialog
      id="replay-dialog"
      title="Send failed events again"
      lead="Each failed event is sent once more, oldest first, as a delivery of its own. Events that were sent again already are left out."
      submitText={events ? `Send ${wordsOf(events)}` : 'Send again'}
      isIncomplete={events === null || events === 0}
      fields={[
        <SelectField id="replay-since" label="Failed in" value={hours} choices={SINCE} onChoose={setHours} />,
        <p id="replay-count" role="status">
          {replay.failure ? 'The events could not be counted.' : countWords(events, since)}
        </p>,
      ]}
      send={() => calls.replay(webhookId, since)}
      onDone={onStarted}
    />
  );
}

interface ReplayProgressProps {
  readonly webhookId: string;
  readonly calls: WebhookCalls;
  /** The replay started here; null for none. */
  readonly started: Replay | null;
  readonly onEnd: (message: string) => unknown;
}

const POLL_MS = 1500;

/** Shows a replay that runs, whoever started it, and says at its end what was done. */
export function ReplayProgress({ webhookId, calls, started, onEnd }: ReplayProgressProps) {
  const replay = useLoaded(() => calls.countReplay(webhookId, undefined), [webhookId, started]);
  const running = replay.data?.running ?? null;
  const wasRunning = useRef(false);
  useEvery(running ? POLL_MS : null, replay.reload);
  useEffect(() => {
    if (replay.data === null) return;
    if (wasRunning.current && !running)
      onEnd(started ? sentAgainWords(started) : 'Failed events are on the way again.');
    wasRunning.current = running !== null;
  }, [replay.data]);
  if (!running) return null;
  return (
    <div class="releasing" id="replay-progress">
      <Progress label="Sending failed events again" done={running.done} total={running.total} />
    </div>
  );
}
