/** Invites a user who has never signed in, by a mail. */
import { useToast } from '../../../pages/components/toast.tsx';
import { api, ask, type Outcome, type Schemas } from '../../api.ts';
import { Action } from '../../components/action.tsx';
import { exactTime } from '../../components/format.ts';

export type Invitation = Outcome<Schemas['UserInvited']>;

/** Sends one mail an hour at most; a repeated call says when the next is possible. */
export function invite(applicationId: string, userId: string): Promise<Invitation> {
  const params = { path: { id: applicationId, userId } };
  return ask(api.POST('/api/applications/{id}/users/{userId}/invitation', { params, body: {} }));
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
  return (
    <Action
      id="invite-user"
      onClick={async () => {
        const invitation = await invite(applicationId, userId);
        toast(wordsOf(invitation, email), invitation.ok ? undefined : 'bad');
      }}
    >
      Send an invitation
    </Action>
  );
}
