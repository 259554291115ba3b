/** Languages the reader speaks, with levels. */
import { useEffect, useState } from 'preact/hooks';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Empty, Row, Rows, RowsSkeleton, Section } from '../components/rows.tsx';
import { Select, SelectField } from '../components/select-field.tsx';
import { useTexts } from '../components/texts.tsx';
import { useToast } from '../components/toast.tsx';
import { useAccount } from './account-context.tsx';
import { languageChoices, nameOf } from './choices.ts';
import { useForm } from './use-form.ts';

const LEVELS = ['NATIVE', 'FLUENT', 'ADVANCED', 'INTERMEDIATE', 'BASIC'] as const;
type Level = (typeof LEVELS)[number];

interface SpokenLanguage {
  readonly code: string;
  readonly level: Level;
}

const PATH = '/api/account/profile/languages';

export function LanguagesSection() {
  const text = useTexts();
  const toast = useToast();
  const { api, fail } = useAccount();
  const [languages, setLanguages] = useState<readonly SpokenLanguage[] | null>(null);
  const [isAdding, setIsAdding] = useState(false);
  useEffect(() => void load(), []);

  async function load(): Promise<void> {
    const outcome = await api.get<{ items: readonly SpokenLanguage[] }>(PATH);
    if (outcome.ok) setLanguages(outcome.data.items);
    else fail(outcome);
  }

  /** Updates the list optimistically, and restores it if the request fails. */
  async function change(shown: readonly SpokenLanguage[], method: 'PATCH' | 'DELETE', body: object, done: string) {
    const before = languages;
    setLanguages(shown);
    const outcome = await api.send(method, PATH, body);
    if (outcome.ok) return toast(done);
    setLanguages(before);
    fail(outcome);
  }

  const levels = LEVELS.map((level) => ({ value: level, label: text(`account.profile.level.${level}`) }));
  const nameIn = (code: string) => nameOf(code, 'language', text.locale);

  return (
    <Section id="languages" title={text('account.profile.languages')} lead={text('account.profile.languagesLead')}>
      {languages === null && <RowsSkeleton count={1} />}
      {languages?.length === 0 && <Empty>{text('account.profile.languagesNone')}</Empty>}
      {languages && languages.length > 0 && (
        <Rows>
          {languages.map(({ code, level }) => (
            <Row
              key={code}
              title={nameIn(code)}
              action={
                <div class="row-actions">
                  <Select
                    isSmall
                    label={text('account.profile.levelOf', { language: nameIn(code) })}
                    value={level}
                    choices={levels}
                    onChoose={(chosen) =>
                      void change(
                        languages.map((one) => (one.code === code ? { code, level: chosen as Level } : one)),
                        'PATCH',
                        { code, level: chosen },
                        text('account.profile.languageChanged', {
                          language: nameIn(code),
                          level: text(`account.profile.level.${chosen as Level}`),
                        }),
                      )
                    }
                  />
                  <Button
                    look="small"
                    aria-label={text('account.actionFor', { action: text('account.remove'), name: nameIn(code) })}
                    onClick={() =>
                      void change(
                        languages.filter((one) => one.code !== code),
                        'DELETE',
                        { code },
                        text('account.profile.languageRemoved', { language: nameIn(code) }),
                      )
                    }
                  >
                    {text('account.remove')}
                  </Button>
                </div>
              }
            />
          ))}
        </Rows>
      )}
      <Button id="language-add" look="plain" onClick={() => setIsAdding(true)}>
        {text('account.profile.languageAdd')}
      </Button>
      {isAdding && (
        <LanguageDialog
          known={languages ?? []}
          onAdded={(added) => {
            setIsAdding(false);
            toast(text('account.profile.languageAdded', { language: nameIn(added.code) }));
            void load();
          }}
          onClose={() => setIsAdding(false)}
        />
      )}
    </Section>
  );
}

interface LanguageDialogProps {
  readonly known: readonly SpokenLanguage[];
  onAdded(language: SpokenLanguage): void;
  onClose(): void;
}

function LanguageDialog({ known, onAdded, onClose }: LanguageDialogProps) {
  const text = useTexts();
  const { api, fail } = useAccount();
  const form = useForm<{ code: string; level: string }>({ code: '', level: 'FLUENT' }, () =>
    text('account.field.invalid'),
  );
  const { values, errors, set } = form;

  async function add(): Promise<void> {
    const language = { code: values.code, level: values.level as Level };
    if (language.code === '') return form.mark({ code: text('account.field.missing') });
    if (known.some(({ code }) => code === language.code))
      return form.mark({ code: text('account.profile.languageListed') });
    const isSaved = await form.save(async () => {
      const outcome = await api.send<SpokenLanguage>('POST', PATH, language);
      if (!outcome.ok) fail(outcome);
      return outcome;
    });
    if (isSaved) onAdded(language);
  }

  return (
    <Dialog id="language-dialog" title={text('account.profile.languageAddTitle')} onClose={onClose}>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void add();
        }}
      >
        <SelectField
          id="language-code"
          label={text('account.profile.language')}
          value={values.code}
          choices={languageChoices(text.locale)}
          none=""
          error={errors.code}
          onChoose={(code) => set({ code })}
        />
        <SelectField
          id="language-level"
          label={text('account.profile.level')}
          value={values.level}
          choices={LEVELS.map((level) => ({ value: level, label: text(`account.profile.level.${level}`) }))}
          error={errors.level}
          onChoose={(level) => set({ level })}
        />
        <div class="dialog-actions">
          <Button look="plain" onClick={onClose}>
            {text('account.cancel')}
          </Button>
          <Button id="language-save" type="submit" busyText={form.isSaving && text('account.saving')}>
            {text('account.profile.languageAdd')}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
