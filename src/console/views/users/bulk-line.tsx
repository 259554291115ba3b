/** Progress and result of the newest bulk change; a reload of the page finds it again. */
import { useEffect, useState } from 'preact/hooks';
import { Action, useReport } from '../../components/action.tsx';
import { count, counted } from '../../components/format.ts';
import { Progress } from '../../components/progress.tsx';
import { useDialog } from '../../components/use-dialog.tsx';
import { useEvery } from '../../refresh.ts';
import { type BulkChange, newestBulkChange, readBulkChange, stopBulkChange, undoBulkChange } from './bulk-calls.ts';
import { DoneLine } from './done-line.tsx';
import { LeftOutDialog } from './outcome-dialog.tsx';
import { ACTIONS, STATUSES } from './statuses.ts';

interface BulkLineProps {
  readonly applicationId: string;
  /** Whether a change was running when the application was read; anybody may have started it. */
  readonly isAnyRunning: boolean;
  /** A change just started here. */
  readonly started: BulkChange | null;
  readonly onEnd: () => unknown;
}

const LOOK_MS = 1000;
/** How long the result of a change stays after a reload. */
const SHOWN_MS = 10 * 60_000;
const LAST = 'bulk-change-of-';

export function BulkLine({ applicationId, isAnyRunning, started, onEnd }: BulkLineProps) {
  const report = useReport();
  const [bulk, setBulk] = useState<BulkChange | null>(null);
  const leftOut = useDialog<BulkChange>((change) => (
    <LeftOutDialog
      text={reportOf(change)}
      people={change.leftOut.map(({ userId, email, message }) => ({ userId, email, why: message ?? CHANGED_SINCE }))}
    />
  ));
  useEffect(() => {
    const known = sessionStorage.getItem(LAST + applicationId);
    if (known === null && !isAnyRunning) return;
    let isOver = false;
    const found =
      isAnyRunning || known === null ? newestBulkChange(applicationId) : readBulkChange(applicationId, known);
    void found.then((outcome) => {
      if (!isOver && outcome.ok && outcome.data && isShown(outcome.data)) setBulk(outcome.data);
    });
    return () => {
      isOver = true;
    };
  }, [applicationId]);
  useEffect(() => {
    if (started) follow(started);
  }, [started]);

  /** Shows a change, which a reload in this tab finds again. */
  function follow(change: BulkChange): void {
    sessionStorage.setItem(LAST + applicationId, change.id);
    setBulk(change);
  }

  async function look(): Promise<void> {
    if (!bulk) return;
    const outcome = await readBulkChange(applicationId, bulk.id);
    if (!outcome.ok) return;
    setBulk(outcome.data);
    if (outcome.data.status !== 'running') await onEnd();
  }
  const isRunning = bulk?.status === 'running';
  useEvery(isRunning ? LOOK_MS : null, look);

  if (!bulk) return null;
  if (isRunning)
    return (
      <div class="selection" id="bulk-progress">
        <Progress label={progressOf(bulk)} done={bulk.done} total={bulk.total} />
        <Action
          id="stop-bulk"
          onClick={async () => {
            const outcome = await stopBulkChange(applicationId, bulk.id);
            if (report(outcome)) await look();
          }}
        >
          Stop
        </Action>
      </div>
    );

  async function undo(): Promise<void> {
    if (!bulk) return;
    const outcome = await undoBulkChange(applicationId, bulk.id);
    if (report(outcome)) follow(outcome.data);
  }
  return (
    <>
      <DoneLine
        id="bulk-done"
        text={reportOf(bulk)}
        onUndo={bulk.isUndoable ? undo : null}
        onDismiss={() => {
          sessionStorage.removeItem(LAST + applicationId);
          setBulk(null);
        }}
      >
        {bulk.leftOut.length > 0 && (
          <Action id="show-left-out" needs="nothing" onClick={() => leftOut.open(bulk)}>
            Who was left out
          </Action>
        )}
      </DoneLine>
      {leftOut.dialog}
    </>
  );
}

const CHANGED_SINCE = 'Somebody else changed them meanwhile.';

function isShown({ status, finishedAt }: BulkChange): boolean {
  return status === 'running' || (finishedAt !== null && Date.now() - Date.parse(finishedAt) < SHOWN_MS);
}

function progressOf({ action, undoOf }: BulkChange): string {
  const act = action === null ? 'Changing access' : `${ACTIONS[action].gerund} people`;
  return undoOf === null ? act : `Undoing: ${act.toLowerCase()}`;
}

/** Returns "1,931 people banned, 9 were banned already, 2 refused." */
function reportOf({ action, changed, unchanged, refused, skipped, status, undoOf }: BulkChange): string {
  const already = action === null ? 'so' : STATUSES[ACTIONS[action].to].word.toLowerCase();
  const done = action === null ? 'changed' : ACTIONS[action].done;
  const parts = [
    `${counted(changed, 'person', 'people')} ${done}`,
    unchanged > 0 && `${count(unchanged)} ${unchanged === 1 ? 'was' : 'were'} ${already} already`,
    refused > 0 && `${count(refused)} refused`,
    skipped > 0 && `${count(skipped)} left alone, since somebody else changed them meanwhile`,
  ];
  const lead = status === 'stopped' ? 'Stopped: ' : undoOf === null ? '' : 'Undone: ';
  return `${lead}${parts.filter(Boolean).join(', ')}.`;
}
