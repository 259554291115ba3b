import { api, ask, type Schemas } from '../../api.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { useForm } from '../../components/use-form.ts';
import { useRights, useConsole } from '../../console-context.tsx';
import { roleChoices } from './roles.ts';

interface RoleFormProps {
  readonly member: Schemas['Member'];
  readonly onDone: (member: Schemas['Member']) => unknown;
}

export function RoleForm({ member, onDone }: RoleFormProps) {
  const { workspace, me } = useConsole();
  const { isOwner } = useRights();
  const form = useForm({ role: member.role });
  const { role } = form.values;
  const isMe = member.userId === me.userId;
  const params = { path: { memberId: member.id }, query: { workspaceId: workspace.id } };
  return (
    <FormDialog
      id="role-form"
      title={isMe ? 'Change your own role' : `Change the role of ${member.email}`}
      lead={
        isMe
          ? 'It takes effect with your next click. To get this role back, you need another owner.'
          : 'It takes effect with their next click.'
      }
      submitText="Change role"
      isIncomplete={role === member.role}
      form={form}
      fields={[{ kind: 'choice', id: 'member-role', name: 'role', label: 'Role', choices: roleChoices(isOwner) }]}
      send={() => ask(api.PATCH('/api/workspace/members/{memberId}', { params, body: { role } }))}
      onDone={onDone}
    />
  );
}
