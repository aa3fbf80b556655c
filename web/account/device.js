// The few words by which people recognise a browser, out of what it calls itself.

const BROWSERS = [
  ['Edge', /\bEdg(e|A|iOS)?\//], ['Whale', /\bWhale\//], ['Samsung Internet', /\bSamsungBrowser\//], ['Opera', /\bOPR\//],
  ['Firefox', /\b(Firefox|FxiOS)\//], ['Chrome', /\b(Chrome|CriOS|HeadlessChrome)\//], ['Safari', /\bSafari\//],
];
const SYSTEMS = [
  ['iPhone', /\biPhone\b/], ['iPad', /\biPad\b/], ['Android', /\bAndroid\b/], ['Windows', /\bWindows\b/],
  ['macOS', /\bMac OS X\b/], ['ChromeOS', /\bCrOS\b/], ['Linux', /\bLinux\b/],
];

const firstOf = (list, agent) => list.find(([, pattern]) => pattern.test(agent))?.[0];

// A program that is no browser (curl/8.1) is called by its first word.
export function deviceName(agent, say) {
  const browser = firstOf(BROWSERS, agent);
  const system = firstOf(SYSTEMS, agent);
  if (browser && system) return say('deviceOn', { browser, system });
  return browser ?? system ?? (/^[\w.-]+(\/[\w.-]+)?/.exec(agent)?.[0] || say('unknownDevice'));
}
