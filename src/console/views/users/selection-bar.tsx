/** Actions for the selected users and their result; hidden without a selection. */
import { useState } from 'preact/hooks';
import type { Outcome } from '../../api.ts';
import { Action, useReport } from '../../components/action.tsx';
import { useDialog } from '../../components/use-dialog.tsx';
import { counted } from '../../components/format.ts';
import type { LazyAccess } from '../grants/access.ts';
import { ActionDialog } from './action-dialog.tsx';
import { changeGrants, leftOut, summaryOf, type UserResult } from './changes.ts';
import { GrantsDialog } from './grants-dialog.tsx';
import { DoneLine } from './done-line.tsx';
import { LeftOutDialog } from './outcome-dialog.tsx';
import { ACTIONS, actionsFor, type User, type UserAction } from './statuses.ts';
import { undoOfAction, undoOfGrants } from './undo.ts';

interface SelectionBarProps {
  readonly applicationId: string;
  readonly users: readonly User[];
  readonly access: LazyAccess;
  readonly onClear: () => void;
  readonly onChanged: () => Promise<void>;
  /** Chooses all that match; absent unless everything that is shown is chosen, and there is more. */
  readonly onChooseAll?: (() => void) | undefined;
}

interface Done {
  readonly text: string;
  readonly undo: (() => Promise<Outcome<UserResult[]>>) | null;
}

interface Change {
  readonly done: string;
  readonly undoOf: (results: readonly UserResult[]) => Done['undo'];
}

interface LeftOut {
  readonly results: readonly UserResult[];
  readonly done: string;
  readonly emails: ReadonlyMap<string, string>;
}

export function SelectionBar({ applicationId, users, access, onClear, onChanged, onChooseAll }: SelectionBarProps) {
  const report = useReport();
  const [last, setLast] = useState<Done | null>(null);
  const outcome = useDialog<LeftOut>(({ results, done, emails }) => (
    <LeftOutDialog
      text={summaryOf(results, done)}
      people={leftOut(results).map(({ userId, outcome, message }) => ({
        userId,
        email: emails.get(userId) ?? userId,
        why: outcome === 'not_found' ? 'No longer here.' : message,
      }))}
    />
  ));
  const grants = useDialog(
    () =>
      access.data && (
        <GrantsDialog
          count={users.length}
          access={access.data}
          send={(change) =>
            changeGrants(
              applicationId,
              users.map(({ userId }) => userId),
              change,
            )
          }
          onDone={(results, change) =>
            finish(results, {
              done: 'changed',
              undoOf: (changed) => undoOfGrants(applicationId, users, changed, change),
            })
          }
        />
      ),
  );
  const change = useDialog<UserAction>((action) => (
    <ActionDialog
      applicationId={applicationId}
      action={action}
      users={users}
      onDone={(results) =>
        finish(results, {
          done: ACTIONS[action].done,
          undoOf: (changed) => undoOfAction(applicationId, users, changed, action),
        })
      }
    />
  ));

  async function finish(results: readonly UserResult[], { done, undoOf }: Change): Promise<void> {
    setLast({ text: summaryOf(results, done), undo: undoOf(results) });
    if (leftOut(results).length === 0) onClear();
    else outcome.open({ results, done, emails: new Map(users.map(({ userId, email }) => [userId, email])) });
    await onChanged();
  }

  async function undo(): Promise<void> {
    const undone = await last?.undo?.();
    if (!undone || !report(undone)) return;
    setLast({ text: `Undone: ${summaryOf(undone.data, 'changed back')}`, undo: null });
    await onChanged();
  }

  function openGrants(): void {
    access.need();
    grants.open();
  }

  return (
    <>
      {last && users.length === 0 && (
        <DoneLine id="done-line" text={last.text} onUndo={last.undo && undo} onDismiss={() => setLast(null)} />
      )}
      {users.length > 0 && (
        <div class="selection" id="selection" role="toolbar" aria-label="Actions for the chosen users">
          <span role="status">{counted(users.length, 'person', 'people')} chosen</span>
          {onChooseAll && (
            <button class="link" type="button" id="choose-all" onClick={onChooseAll}>
              Choose all that match
            </button>
          )}
          {actionsFor(users).map((action) => (
            <Action key={action} id={`${action}-users`} onClick={() => change.open(action)}>
              {ACTIONS[action].verb}
            </Action>
          ))}
          <Action id="grants-users" onClick={openGrants}>
            Change access
          </Action>
          <button class="link" type="button" onClick={onClear}>
            Choose none
          </button>
        </div>
      )}
      {grants.dialog}
      {change.dialog}
      {outcome.dialog}
    </>
  );
}
