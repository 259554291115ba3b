/** Switches the page's language through the address, so that a reload keeps the choice. */
import { ChevronDown, Languages } from 'lucide';
import { LOCALES, type Locale } from '../../core/locale.ts';
import { reloadIn } from '../browser/reload-in.ts';
import { Icon } from './icon.tsx';
import { useTexts } from './texts.tsx';

/** Native names; `Intl` would write some of them in lower case. */
export const LANGUAGE_NAMES: Readonly<Record<Locale, string>> = {
  en: 'English',
  de: 'Deutsch',
  es: 'Español',
  fr: 'Français',
  it: 'Italiano',
  nl: 'Nederlands',
  'pt-BR': 'Português (Brasil)',
  'pt-PT': 'Português (Portugal)',
  tr: 'Türkçe',
  pl: 'Polski',
  cs: 'Čeština',
  sv: 'Svenska',
  el: 'Ελληνικά',
  ru: 'Русский',
  uk: 'Українська',
};

export function LanguageSwitch({ locale }: { locale: Locale }) {
  const text = useTexts();
  return (
    <label class="languages">
      <Icon of={Languages} size={16} />
      <span class="visually-hidden">{text('signin.language')}</span>
      <select id="language" translate={false} value={locale} onChange={(event) => reloadIn(event.currentTarget.value)}>
        {LOCALES.map((tag) => (
          <option key={tag} value={tag} lang={tag} selected={tag === locale}>
            {LANGUAGE_NAMES[tag]}
          </option>
        ))}
      </select>
      <Icon of={ChevronDown} size={16} />
    </label>
  );
}
