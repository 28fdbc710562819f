// Runs before the first paint, so that a chosen theme doesn't flash.
try {
  const chosen = localStorage.getItem('theme');
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen;
} catch {
  // Storage is off: the system's theme stands.
}
