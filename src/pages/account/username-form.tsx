/** Form for the username in the application, checked for availability while typing. */
import { useEffect, useState } from 'preact/hooks';
import { normalizeUsername, suggestedUsername, usernameProblem } from '../../core/username.ts';
import { Button } from '../components/button.tsx';
import { ConfirmDialog } from '../components/confirm-dialog.tsx';
import { Field } from '../components/field.tsx';
import { Section } from '../components/rows.tsx';
import { useTexts } from '../components/texts.tsx';
import { useToast } from '../components/toast.tsx';
import { useAccount } from './account-context.tsx';
import { SaveRow } from './save-row.tsx';
import { useForm } from './use-form.ts';

const TYPING_MS = 350;

type Status = 'available' | 'taken' | 'format_invalid' | 'reserved';

/** Availability of a username; `checking` during the request. */
interface Verdict {
  readonly username: string;
  readonly status: Status | 'checking';
}

export function UsernameForm() {
  const text = useTexts();
  const toast = useToast();
  const { account, api, change, data } = useAccount();
  const app = data.application.name;
  const form = useForm({ username: account.username ?? '' }, () => text('account.profile.usernameInvalid'), {
    draft: 'username',
  });
  const [verdict, setVerdict] = useState<Verdict | null>(null);
  const [isDropping, setIsDropping] = useState(false);
  const wanted = normalizeUsername(form.values.username);
  const isNew = wanted !== '' && wanted !== account.username;

  useEffect(() => {
    setVerdict(null);
    if (!isNew) return;
    let isCurrent = true;
    const timer = setTimeout(() => void judge(), TYPING_MS);

    async function judge(): Promise<void> {
      const problem = usernameProblem(wanted);
      if (problem !== null)
        return setVerdict({ username: wanted, status: problem === 'reserved' ? 'reserved' : 'format_invalid' });
      setVerdict({ username: wanted, status: 'checking' });
      const query = new URLSearchParams({ username: wanted });
      const outcome = await api.get<Verdict>(`/api/account/username/check?${query}`);
      // Unknown on failure; saving reports it.
      if (isCurrent) setVerdict(outcome.ok ? outcome.data : null);
    }

    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [wanted, account.username]);

  async function put(username: string | null): Promise<boolean> {
    return form.save(async () => {
      const outcome = await change(
        { username },
        () => api.send<{ username: string | null }>('PATCH', '/api/account/username', { username }),
        (answer) => answer,
      );
      if (!outcome.ok && outcome.code === 'conflict') setVerdict({ username: wanted, status: 'taken' });
      return outcome;
    });
  }

  async function save(): Promise<void> {
    if (wanted === '' && account.username !== null) return setIsDropping(true);
    if (wanted === '') return form.mark({ username: text('account.field.missing') });
    if (await put(wanted)) {
      form.set({ username: wanted });
      toast(text('account.saved'));
    }
  }

  async function drop(): Promise<void> {
    const isDropped = await put(null);
    setIsDropping(false);
    if (!isDropped) return;
    form.set({ username: '' });
    toast(text('account.profile.usernameDropped', { app }));
  }

  const problem = form.errors.username ?? problemOf(verdict?.status);
  function problemOf(status: Verdict['status'] | undefined): string | null {
    if (status === 'taken') return text('account.profile.usernameTaken');
    if (status === 'reserved') return text('account.profile.usernameReserved', { username: wanted });
    return status === 'format_invalid' ? text('account.profile.usernameInvalid') : null;
  }

  const suggestion = verdict?.status === 'format_invalid' ? suggestedUsername(form.values.username) : null;

  return (
    <Section
      id="username-section"
      title={text('account.profile.username')}
      lead={text('account.profile.usernameLead', { app })}
    >
      <form
        noValidate
        id="username-form"
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <Field
          id="username"
          label={text('account.profile.username')}
          value={form.values.username}
          error={problem}
          autocomplete="username"
          autoCapitalize="none"
          autoCorrect="off"
          spellcheck={false}
          maxLength={60}
          hint={text('account.profile.usernameRules')}
          onInput={(event) => form.set({ username: event.currentTarget.value })}
        />
        {suggestion !== null && (
          <Button id="username-suggestion" look="small" onClick={() => form.set({ username: suggestion })}>
            {text('account.profile.usernameSuggest', { username: suggestion })}
          </Button>
        )}
        <p class="verdict" id="username-verdict" role="status" data-status={verdict?.status}>
          {verdict?.status === 'checking' && text('account.profile.usernameChecking')}
          {verdict?.status === 'available' && text('account.profile.usernameFree', { username: verdict.username })}
        </p>
        <SaveRow id="username-save" isSaving={form.isSaving} isChanged={wanted !== (account.username ?? '')}>
          {account.username !== null && (
            <Button id="username-drop" look="quiet" onClick={() => setIsDropping(true)}>
              {text('account.profile.usernameDrop')}
            </Button>
          )}
        </SaveRow>
      </form>
      {isDropping && account.username !== null && (
        <ConfirmDialog
          id="drop-dialog"
          title={text('account.profile.usernameDropTitle', { username: account.username })}
          lead={text('account.profile.usernameDropLead', { app })}
          confirmText={text('account.profile.usernameDrop')}
          busyText={text('account.saving')}
          onConfirm={drop}
          onClose={() => setIsDropping(false)}
        />
      )}
    </Section>
  );
}
