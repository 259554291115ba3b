/** Roles, scopes and groups of a user, and the form that changes them. */
import { useToast } from '../../../pages/components/toast.tsx';
import { api, ask, type Outcome, type Schemas } from '../../api.ts';
import { Action } from '../../components/action.tsx';
import { Facts } from '../../components/facts.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { DetailPart } from '../../components/list-detail.tsx';
import { Slugs } from '../../components/slugs.tsx';
import { useDialog } from '../../components/use-dialog.tsx';
import { useForm } from '../../components/use-form.ts';
import { type Access, HELD_KINDS, type HeldKind, type LazyAccess } from '../grants/access.ts';
import { accessFields, type Chosen } from '../grants/access-fields.tsx';

type Detail = Schemas['UserDetail'];

interface UserAccessProps {
  readonly applicationId: string;
  readonly user: Detail;
  /** Grants that can be assigned. */
  readonly access: LazyAccess;
  readonly onChanged: () => Promise<void>;
}

export function UserAccess({ applicationId, user, access, onChanged }: UserAccessProps) {
  const toast = useToast();
  const { open, dialog } = useDialog(
    () =>
      access.data && (
        <AccessForm
          applicationId={applicationId}
          user={user}
          access={access.data}
          onDone={() => {
            toast('Access changed.');
            void onChanged();
          }}
        />
      ),
  );
  return (
    <DetailPart
      title="Access"
      action={
        <Action
          id="edit-access"
          onClick={() => {
            access.need();
            open();
          }}
        >
          Edit access
        </Action>
      }
    >
      <Facts of={HELD_KINDS.map(({ kind, title }) => [title, <Slugs of={user[kind]} />])} />
      {dialog}
    </DetailPart>
  );
}

interface AccessFormProps {
  readonly applicationId: string;
  readonly user: Detail;
  readonly access: Access;
  readonly onDone: () => unknown;
}

function AccessForm({ applicationId, user, access, onDone }: AccessFormProps) {
  const form = useForm<Chosen>({ roles: user.roles, scopes: user.scopes, memberships: user.memberships });
  const chosen = form.values;

  async function send(): Promise<Outcome<null>> {
    for (const { kind } of HELD_KINDS) {
      if (isSame(chosen[kind], user[kind])) continue;
      const outcome = await setHeld(kind, { id: applicationId, userId: user.userId }, [...chosen[kind]]);
      if (!outcome.ok) return outcome;
    }
    return { ok: true, data: null };
  }

  return (
    <FormDialog
      id="access-form"
      title={`Access of ${user.email}`}
      lead="A backend sees it at the next verification."
      submitText="Save access"
      isIncomplete={HELD_KINDS.every(({ kind }) => isSame(chosen[kind], user[kind]))}
      form={form}
      fields={accessFields('access', access)}
      send={send}
      onDone={onDone}
    />
  );
}

const isSame = (one: readonly string[], other: readonly string[]) =>
  [...one].sort().join() === [...other].sort().join();

function setHeld(
  kind: HeldKind,
  path: { readonly id: string; readonly userId: string },
  slugs: string[],
): Promise<Outcome<unknown>> {
  return ask(api.PUT(`/api/applications/{id}/users/{userId}/${kind}`, { params: { path }, body: { slugs } }));
}
