import { useState } from 'react';

type Theme = 'system' | 'light' | 'dark';
const order: Theme[] = ['system', 'light', 'dark'];

// useTheme is the chosen theme and a step to the next. theme.js applies it on the next load, before the first paint.
export function useTheme(): [Theme, () => void] {
  const [theme, setTheme] = useState<Theme>(() => (document.documentElement.dataset.theme as Theme | undefined) ?? 'system');
  const next = () => {
    const t = order[(order.indexOf(theme) + 1) % order.length]!;
    if (t === 'system') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = t;
    try {
      localStorage.setItem('theme', t);
    } catch {
      // Storage is off: the choice lasts as long as the page.
    }
    setTheme(t);
  };
  return [theme, next];
}
