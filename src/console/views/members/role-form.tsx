/** Form for changing a member's role. */
import { useState } from 'preact/hooks';
import { FieldError } from '../../../pages/components/field.tsx';
import { api, ask, type Schemas } from '../../api.ts';
import { ChooseOne } from '../../components/choices.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { useRights, useWorld } from '../../rights.tsx';
import { roleChoices } from './roles.ts';

interface RoleFormProps {
  readonly member: Schemas['Member'];
  readonly onDone: (member: Schemas['Member']) => void;
  readonly onClose: () => void;
}

export function RoleForm({ member, onDone, onClose }: RoleFormProps) {
  const { workspace, me } = useWorld();
  const { isOwner } = useRights();
  const [role, setRole] = useState(member.role);
  const isMe = member.userId === me.userId;
  return (
    <FormDialog
      id="role-form"
      title={isMe ? 'Change your own role' : `Change the role of ${member.email}`}
      lead={
        isMe
          ? 'It holds from the next click on. To get this role back, you need another owner.'
          : 'It holds from their next click on.'
      }
      submitText="Change role"
      isIncomplete={role === member.role}
      send={() =>
        ask(
          api.PATCH('/api/workspace/members/{memberId}', {
            params: { path: { memberId: member.id }, query: { workspaceId: workspace.id } },
            body: { role },
          }),
        )
      }
      onDone={onDone}
      onClose={onClose}
    >
      {(errorOf) => (
        <>
          <ChooseOne id="member-role" label="Role" choices={roleChoices(isOwner)} chosen={role} onChange={setRole} />
          <FieldError id="member-role" error={errorOf('role')} />
        </>
      )}
    </FormDialog>
  );
}
