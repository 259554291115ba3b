/** Actions for all users whom the filters match, loaded or not. */
import { useEffect, useState } from 'preact/hooks';
import { Action, useReport } from '../../components/action.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { count as formatted, counted } from '../../components/format.ts';
import { useDialog } from '../../components/use-dialog.tsx';
import { useForm } from '../../components/use-form.ts';
import type { LazyAccess } from '../grants/access.ts';
import { REASON_FIELD } from './action-dialog.tsx';
import { type BulkChange, countMatching, type Matching, startBulkChange } from './bulk-calls.ts';
import { GrantsDialog } from './grants-dialog.tsx';
import { ACTIONS, actionsForFilter, type UserAction } from './statuses.ts';

interface MatchingBarProps {
  readonly applicationId: string;
  readonly matching: Matching;
  readonly access: LazyAccess;
  readonly onClear: () => void;
  readonly onStarted: (change: BulkChange) => void;
}

export function MatchingBar({ applicationId, matching, access, onClear, onStarted }: MatchingBarProps) {
  const report = useReport();
  const [soFar, setSoFar] = useState(0);
  const [count, setCount] = useState<number | null>(null);
  useEffect(() => {
    const controller = new AbortController();
    void countMatching(applicationId, matching, setSoFar, controller.signal).then((outcome) => {
      if (controller.signal.aborted) return;
      if (report(outcome)) setCount(outcome.data);
      else onClear();
    });
    return () => controller.abort();
  }, [applicationId, JSON.stringify(matching)]);
  const change = useDialog<UserAction>((action) => (
    <MatchingDialog {...{ applicationId, matching, action, onStarted }} count={count ?? 0} />
  ));
  const grants = useDialog(
    () =>
      access.data && (
        <GrantsDialog
          count={count ?? 0}
          access={access.data}
          send={(wanted) => startBulkChange(applicationId, matching, wanted)}
          onDone={onStarted}
        />
      ),
  );
  function openGrants(): void {
    access.need();
    grants.open();
  }

  return (
    <>
      <div class="selection" id="selection" role="toolbar" aria-label="Actions for all users who match">
        <span role="status">
          {count === null
            ? `Counting… ${formatted(soFar)}`
            : `${counted(count, 'person matches', 'people match')}; all are chosen`}
        </span>
        {count !== null && count > 0 && (
          <>
            {actionsForFilter(matching.status).map((action) => (
              <Action key={action} id={`${action}-users`} onClick={() => change.open(action)}>
                {ACTIONS[action].verb}
              </Action>
            ))}
            <Action id="grants-users" onClick={openGrants}>
              Change access
            </Action>
          </>
        )}
        <button class="link" type="button" onClick={onClear}>
          Choose none
        </button>
      </div>
      {change.dialog}
      {grants.dialog}
    </>
  );
}

interface MatchingDialogProps {
  readonly applicationId: string;
  readonly matching: Matching;
  readonly action: UserAction;
  readonly count: number;
  readonly onStarted: (change: BulkChange) => void;
}

function MatchingDialog({ applicationId, matching, action, count, onStarted }: MatchingDialogProps) {
  const form = useForm({ reason: '' });
  const { verb, isDanger, effect } = ACTIONS[action];
  const whom = counted(count, 'person', 'people');
  return (
    <FormDialog
      id="user-action"
      title={`${verb} ${whom}?`}
      lead={`Everybody who matches now, in the background; people who join meanwhile are not touched. ${effect}`}
      submitText={`${verb} ${whom}`}
      isDanger={isDanger}
      form={form}
      fields={[REASON_FIELD]}
      send={() => {
        const reason = form.values.reason.trim();
        return startBulkChange(applicationId, matching, { action, ...(reason !== '' && { reason }) });
      }}
      onDone={onStarted}
    />
  );
}
