/** Colour scheme of the console: the system's, or the one chosen in this browser. */

const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const CHOSEN = 'gatehouse.console.theme';

const DARK = '(prefers-color-scheme: dark)';
/** Queries of the dark rules. Each still contains the original, by which the rules are found. */
const QUERIES: Readonly<Record<Theme, string>> = {
  system: DARK,
  dark: `${DARK}, all`,
  light: `${DARK} and (width < 0px)`,
};

/** Reloads, since charts have taken the colours of the old scheme. */
export function chooseTheme(theme: Theme): void {
  localStorage.setItem(CHOSEN, theme);
  location.reload();
}

/** Applies the choice to the style sheets and to the browser's own controls. */
export function showTheme(): void {
  const chosen = localStorage.getItem(CHOSEN);
  const theme = THEMES.find((one) => one === chosen) ?? 'system';
  if (theme === 'system') return;
  document.documentElement.style.colorScheme = theme;
  for (const sheet of document.styleSheets)
    for (const rule of sheet.cssRules)
      if (rule instanceof CSSMediaRule && rule.conditionText.includes(DARK)) rule.media.mediaText = QUERIES[theme];
}
