/** Invites a user who has never signed in, by a mail in a language that can be chosen each time. */
import { useToast } from '../../../pages/components/toast.tsx';
import { api, ask, type Outcome, type Schemas } from '../../api.ts';
import { Action } from '../../components/action.tsx';
import { exactTime } from '../../components/format.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { LanguageField } from '../../components/language-field.tsx';
import { languages } from '../../components/languages.ts';
import { Time } from '../../components/time.tsx';
import { useDialog } from '../../components/use-dialog.tsx';
import { useForm } from '../../components/use-form.ts';
import { useLoaded } from '../../data.ts';

export type Invitation = Outcome<Schemas['UserInvited']>;

type Language = ReturnType<typeof languages>[number]['value'];

/** Sends one mail an hour at most; a repeated call says when the next is possible. */
export function invite(applicationId: string, userId: string, locale?: Language): Promise<Invitation> {
  const params = { path: { id: applicationId, userId } };
  return ask(api.POST('/api/applications/{id}/users/{userId}/invitation', { params, body: { locale } }));
}

/** Says what became of an invitation, as a sentence. */
export function wordsOf(invitation: Invitation, email: string): string {
  if (!invitation.ok) return `No invitation was sent: ${invitation.message}`;
  const { sent, resendAt } = invitation.data;
  return sent
    ? `An invitation is on its way to ${email}.`
    : `${email} was invited within the hour; the next mail is possible at ${exactTime(resendAt)}.`;
}

interface InviteUserProps {
  readonly applicationId: string;
  readonly user: Pick<Schemas['UserDetail'], 'userId' | 'email'>;
}

export function InviteUser({ applicationId, user: { userId, email } }: InviteUserProps) {
  const toast = useToast();
  const path = { id: applicationId };
  const invited = useLoaded(() => {
    const query = { userId, family: 'user.invited', limit: 1 };
    return ask(api.GET('/api/applications/{id}/activity/list', { params: { path, query } }));
  }, [applicationId, userId]);
  const last = invited.data?.items[0];
  const { open, dialog } = useDialog(() => (
    <InviteDialog
      email={email}
      send={(locale) => invite(applicationId, userId, locale)}
      onDone={(data) => {
        toast(wordsOf({ ok: true, data }, email));
        void invited.reload();
      }}
    />
  ));
  return (
    <>
      {last && (
        <span class="fine block" id="invited">
          Invited <Time at={last.createdAt} />.
        </span>
      )}
      <Action id="invite-user" onClick={open}>
        {last ? 'Send again' : 'Send an invitation'}
      </Action>
      {dialog}
    </>
  );
}

interface InviteDialogProps {
  readonly email: string;
  readonly send: (locale: Language | undefined) => Promise<Invitation>;
  readonly onDone: (invited: Schemas['UserInvited']) => void;
}

function InviteDialog({ email, send, onDone }: InviteDialogProps) {
  const form = useForm<{ locale: string }>({ locale: '' });
  const chosen = languages().find(({ value }) => value === form.values.locale)?.value;
  return (
    <FormDialog
      id="invite-dialog"
      title={`Invite ${email}`}
      lead="The mail links to the sign-in page, with their address filled in. At most one is sent an hour."
      submitText="Send invitation"
      form={form}
      fields={[
        {
          kind: 'custom',
          name: 'locale',
          render: ({ value, set }) => (
            <LanguageField
              key="locale"
              id="invite-locale"
              value={value}
              none="That of their profile"
              hint="Of this mail. Without one in their profile, it is in English."
              onChoose={set}
            />
          ),
        },
      ]}
      send={() => send(chosen)}
      onDone={onDone}
    />
  );
}
