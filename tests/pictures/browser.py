# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium that opens a file, is clicked and typed into, and tells what it shows.

Speaks the DevTools protocol over a pipe: JSON, each message ended by a zero byte."""
import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time

DEADLINE = 60       # s for one answer: a loaded machine starts a browser slowly
PROGRAMS = ('chromium', 'chromium-browser', 'google-chrome')


def program():
    return next((p for p in map(shutil.which, PROGRAMS) if p), None)


class Browser:
    def __init__(self):
        self.profile = tempfile.mkdtemp(prefix='perf-prof-browser-')
        to_read, self._to = os.pipe()
        self._from, to_write = os.pipe()
        # above what they are moved to
        ends = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 20) for fd in (to_read, to_write)]
        os.close(to_read)
        os.close(to_write)

        def move():
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)
        # its own group: a crash handler and renderers end with it
        self.process = subprocess.Popen(
            [program(), '--headless=new', '--remote-debugging-pipe', '--no-sandbox', '--disable-gpu',
             '--disable-dev-shm-usage', '--no-first-run', '--disable-background-networking',
             '--disable-extensions', f'--user-data-dir={self.profile}', 'about:blank'],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            preexec_fn=move, pass_fds=(3, 4), start_new_session=True)
        for fd in ends:
            os.close(fd)
        self._buffer = b''
        self._last = 0
        self.events = []

    def close(self):
        os.close(self._to)
        os.close(self._from)
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def _message(self, deadline):
        while b'\0' not in self._buffer:
            ready, _, _ = select.select([self._from], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError(f'the browser did not answer within {DEADLINE} s')
            more = os.read(self._from, 1 << 16)
            if not more:
                raise RuntimeError(f'the browser ended: {self.process.wait()}')
            self._buffer += more
        message, self._buffer = self._buffer.split(b'\0', 1)
        return json.loads(message)

    def call(self, method, session=None, **params):
        self._last += 1
        request = {'id': self._last, 'method': method, 'params': params}
        if session:
            request['sessionId'] = session
        os.write(self._to, json.dumps(request).encode() + b'\0')
        deadline = time.monotonic() + DEADLINE
        while True:
            message = self._message(deadline)
            if message.get('id') == self._last:
                if 'error' in message:
                    raise RuntimeError(f'{method}: {message["error"]}')
                return message['result']
            self.events.append(message)

    def open(self, path, width=1200, height=900):
        return Page(self, path, width, height)


class Page:
    def __init__(self, browser, path, width, height):
        self._browser = browser
        target = browser.call('Target.createTarget', url='about:blank')['targetId']
        self._session = browser.call('Target.attachToTarget', targetId=target, flatten=True)['sessionId']
        for domain in ('Runtime', 'Log', 'Network', 'Page'):
            self.call(f'{domain}.enable')
        self.call('Emulation.setDeviceMetricsOverride', width=width, height=height,
                  deviceScaleFactor=1, mobile=False)
        self.call('Page.navigate', url=f'file://{os.path.abspath(path)}')
        self.until('document.readyState === "complete"')

    def call(self, method, **params):
        return self._browser.call(method, self._session, **params)

    def run(self, expression):
        """The value of a JavaScript expression."""
        result = self.call('Runtime.evaluate', expression=expression, returnByValue=True,
                           awaitPromise=True)
        if 'exceptionDetails' in result:
            raise RuntimeError(f'{expression}: {result["exceptionDetails"]}')
        return result['result'].get('value')

    def until(self, expression, seconds=20):
        """Waits for the expression to become true."""
        deadline = time.monotonic() + seconds
        while True:
            if self.run(f'!!({expression})'):
                return
            if time.monotonic() > deadline:
                raise AssertionError(f'{expression} did not become true')
            time.sleep(0.02)

    def box(self, expression):
        """Left, top, right, bottom of the element, once its transitions are over."""
        last = None
        while True:
            rect = self.run(f'(() => {{ const r = ({expression}).getBoundingClientRect(); '
                            'return [r.left, r.top, r.right, r.bottom] })()')
            if rect == last:
                return rect
            last = rect
            time.sleep(0.1)         # and two frames, or a transition had not begun
            self.run('new Promise(r => requestAnimationFrame(() => requestAnimationFrame(() => r(1))))')

    def mouse(self, kind, x, y, **more):
        self.call('Input.dispatchMouseEvent', type=kind, x=x, y=y, button='left', **more)

    def click(self, expression):
        left, top, right, bottom = self.box(expression)
        x, y = (left + right) / 2, (top + bottom) / 2
        self.mouse('mouseMoved', x, y)
        self.mouse('mousePressed', x, y, clickCount=1)
        self.mouse('mouseReleased', x, y, clickCount=1)

    def drag(self, x0, y0, x1, y1):
        self.mouse('mouseMoved', x0, y0)
        self.mouse('mousePressed', x0, y0, clickCount=1)
        for i in range(1, 5):
            self.mouse('mouseMoved', x0 + (x1 - x0) * i / 4, y0 + (y1 - y0) * i / 4, buttons=1)
        self.mouse('mouseReleased', x1, y1, clickCount=1)

    def type(self, text):
        self.call('Input.insertText', text=text)

    def screenshot(self, path):
        import base64
        with open(path, 'wb') as f:
            f.write(base64.b64decode(self.call('Page.captureScreenshot', format='png')['data']))

    def complaints(self):
        """Exceptions, what the page's policy refused, and anything that was loaded beside it."""
        self.run('0')
        told = []
        for event in self._browser.events:
            if event.get('sessionId') != self._session:
                continue
            params = event['params']
            if event['method'] == 'Runtime.exceptionThrown':
                told.append(str(params['exceptionDetails']))
            elif event['method'] == 'Log.entryAdded' and params['entry']['level'] == 'error':
                told.append(params['entry']['text'])
            elif event['method'] == 'Network.requestWillBeSent':
                url = params['request']['url']
                if not url.startswith('file://') or not url.endswith('.html'):
                    told.append(f'loads {url}')
        return told
