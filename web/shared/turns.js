// Windows of one browser that take turns with some work, where the browser lets them (on https and localhost).
export const inTurn = (name, work) => (navigator.locks ? navigator.locks.request(name, work) : work());
