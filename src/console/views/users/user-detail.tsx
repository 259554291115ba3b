/** Detail of a user: profile, access, sessions and recent activity. */
import { useMemo } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { useToast } from '../../../pages/components/toast.tsx';
import { api, ask, type Schemas } from '../../api.ts';
import { AbsentDetail } from '../../components/absent-detail.tsx';
import { Action } from '../../components/action.tsx';
import { Copyable } from '../../components/copy.tsx';
import { Detail, DetailPart } from '../../components/list-detail.tsx';
import { useDialog } from '../../components/use-dialog.tsx';
import { WhenNear } from '../../components/when-near.tsx';
import { useLoaded } from '../../data.ts';
import type { LazyAccess } from '../grants/access.ts';
import { ActionDialog } from './action-dialog.tsx';
import { leftOut, summaryOf, type UserResult } from './changes.ts';
import { ForgetDialog } from './forget-dialog.tsx';
import { KeyPrincipal, titleOf } from './key-principal.tsx';
import { ACTIONS, actionsFor, isForgettable, type UserAction } from './statuses.ts';
import { UserAccess } from './user-access.tsx';
import { UserActivity } from './user-activity.tsx';
import { UserProfile } from './user-profile.tsx';
import { UserRecord } from './user-record.tsx';
import { UserSessions } from './user-sessions.tsx';
import { WhyRefused } from './why-refused.tsx';

interface UserDetailProps {
  readonly application: Schemas['Application'];
  readonly userId: string;
  readonly access: LazyAccess;
  readonly closeTo: string;
  readonly onChanged: () => Promise<void>;
}

export function UserDetail({ application, userId, access, closeTo, onChanged }: UserDetailProps) {
  const { id } = application;
  const toast = useToast();
  const [, navigate] = useLocation();
  const { data, failure, reload } = useLoaded<Schemas['UserDetail']>(
    () => ask(api.GET('/api/applications/{id}/users/{userId}', { params: { path: { id, userId } } })),
    [id, userId],
  );
  // Dialogs and messages use the title as the address. A new object would load what depends on it again.
  const user = useMemo(() => data && { ...data, email: titleOf(data) }, [data]);
  const change = useDialog<UserAction>(
    (action) =>
      user && (
        <ActionDialog
          applicationId={id}
          action={action}
          users={[user]}
          onDone={(results) => onChange(user.email, ACTIONS[action].done, results)}
        />
      ),
  );
  const forgetting = useDialog(
    () => user && <ForgetDialog applicationId={id} user={user} onDone={() => onForgotten(user.email)} />,
  );
  if (!user)
    return (
      <AbsentDetail
        title="User"
        closeTo={closeTo}
        failure={failure}
        onRetry={reload}
        missing={`There is no such user in ${application.name}; an import may have been forgotten.`}
      />
    );
  const isPerson = user.kind === 'person';

  async function onChange(email: string, done: string, results: readonly UserResult[]): Promise<void> {
    const [result] = results;
    const message = result?.outcome === 'changed' ? `${email} is ${done}.` : summaryOf(results, done);
    const [refused] = leftOut(results);
    if (refused) toast(refused.message ?? message, 'bad');
    else toast(message);
    await reload();
    await onChanged();
  }

  async function onEdited(): Promise<void> {
    await reload();
    await onChanged();
  }

  async function onForgotten(email: string): Promise<void> {
    toast(`The import of ${email} is forgotten.`);
    navigate(closeTo);
    await onChanged();
  }

  return (
    <Detail
      title={<span dir="auto">{user.email}</span>}
      subtitle={<Copyable value={userId} label="user id" />}
      closeTo={closeTo}
      actions={
        <>
          {actionsFor([user]).map((possible) => (
            <Action
              key={possible}
              id={`${possible}-user`}
              look={possible === 'delete' ? 'danger' : 'small'}
              onClick={() => change.open(possible)}
            >
              {ACTIONS[possible].verb}
            </Action>
          ))}
          {isPerson && isForgettable(user) && (
            <Action id="forget-user" look="danger" onClick={forgetting.open}>
              Forget import
            </Action>
          )}
        </>
      }
    >
      {isPerson ? <UserProfile user={user} /> : <KeyPrincipal user={user} />}
      {/* Above what loads later, so that its button does not move. */}
      <UserRecord application={application} user={user} onChanged={onEdited} />
      {isPerson && (
        <DetailPart title="Why was this person refused?">
          <WhyRefused application={application} email={user.email} user={user} onAct={change.open} />
        </DetailPart>
      )}
      <UserAccess applicationId={id} user={user} access={access} onChanged={onEdited} />
      {isPerson && <UserSessions key={user.status} applicationId={id} user={user} />}
      <WhenNear key={`${user.status} activity`}>
        <UserActivity applicationId={id} userId={userId} />
      </WhenNear>
      {change.dialog}
      {forgetting.dialog}
    </Detail>
  );
}
