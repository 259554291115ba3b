/** Detail of a workspace member: role and removal. */
import { useLocation } from 'wouter-preact';
import { useToast } from '../../../pages/components/toast.tsx';
import { addresses } from '../../address.ts';
import type { Schemas } from '../../api.ts';
import { Action } from '../../components/action.tsx';
import { Copyable } from '../../components/copy.tsx';
import { Facts } from '../../components/facts.tsx';
import { Detail } from '../../components/list-detail.tsx';
import { Time } from '../../components/time.tsx';
import { useDialog } from '../../components/use-dialog.tsx';
import { useRights, useConsole } from '../../console-context.tsx';
import { RemovalDialog } from './removal-dialog.tsx';
import { RoleForm } from './role-form.tsx';
import { ROLE_WORDS } from './roles.ts';

interface MemberDetailProps {
  readonly member: Schemas['Member'];
  /** No other owner could take over. */
  readonly isLastOwner: boolean;
  readonly onChanged: () => Promise<void>;
}

export function MemberDetail({ member, isLastOwner, onChanged }: MemberDetailProps) {
  const { workspace, me, reloadWorkspaces } = useConsole();
  const { canWrite } = useRights();
  const toast = useToast();
  const [, navigate] = useLocation();
  const isMe = member.userId === me.userId;
  const needs = member.role === 'owner' ? 'owner' : 'write';
  const closeTo = addresses.workspace(workspace.id, 'members');
  const roleChange = useDialog(() => (
    <RoleForm
      member={member}
      onDone={({ email, role }) => changed(`${email} is ${ROLE_WORDS[role].title.toLowerCase()} now.`)}
    />
  ));
  const removal = useDialog(() => <RemovalDialog member={member} isMe={isMe} onDone={removed} />);

  async function changed(text: string): Promise<void> {
    toast(text);
    await onChanged();
    if (isMe) await reloadWorkspaces();
  }

  function removed(): void {
    // A member who left has nothing to see here, and the session may have ended.
    if (isMe) return location.assign('/console');
    navigate(closeTo);
    void changed(`${member.email} is no longer a member.`);
  }

  return (
    <Detail
      title={member.email}
      subtitle={isMe ? 'This is you.' : undefined}
      closeTo={closeTo}
      actions={
        <>
          <Action id="change-role" needs={needs} isDisabled={isLastOwner} onClick={roleChange.open}>
            Change role
          </Action>
          <Action id="remove-member" look="danger" needs={needs} isDisabled={isLastOwner} onClick={removal.open}>
            {isMe ? 'Leave the workspace' : 'Remove'}
          </Action>
        </>
      }
    >
      {isLastOwner && canWrite && (
        <p class="note" id="last-owner">
          {isMe ? 'You are' : 'This is'} the only owner of {workspace.name}, and a workspace needs at least one. Make
          somebody else an owner first.
        </p>
      )}
      <Facts
        of={[
          ['Role', ROLE_WORDS[member.role].title],
          ['Which means', ROLE_WORDS[member.role].meaning],
          ['Since', <Time at={member.createdAt} />],
          ['Member', <Copyable value={member.id} label="member id" />],
          ['User', <Copyable value={member.userId} label="user id" />],
        ]}
      />
      {roleChange.dialog}
      {removal.dialog}
    </Detail>
  );
}
