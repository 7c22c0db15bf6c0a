"""A window on the screen for the pictures of `render.py`, and the keys pressed in it.

Pygame is imported when a window is made, so that training never loads it.
"""

import os

import numpy as np


class Window:
    """Shows pictures one after another; opens with the first one."""

    def __init__(self) -> None:
        os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
        import pygame  # noqa: PLC0415

        self.pygame = pygame
        self.clock = pygame.time.Clock()

    def has_screen(self) -> bool:
        """Tell whether anybody would see the window; one asked for by its driver's name counts."""
        self.pygame.display.init()
        is_blind = self.pygame.display.get_driver() in ("dummy", "offscreen")
        return not is_blind or "SDL_VIDEODRIVER" in os.environ

    def show(self, picture: np.ndarray, fps: float | None = None) -> None:
        """Show a picture, uint8 (height, width, 3), then wait as long as the rate asks for."""
        size = (picture.shape[1], picture.shape[0])
        display = self.pygame.display
        display.init()  # does nothing once it is done
        surface = display.get_surface()
        if surface is None or surface.get_size() != size:
            surface = display.set_mode(size)
            display.set_caption("hal")
        self.pygame.surfarray.blit_array(surface, picture.swapaxes(0, 1))
        display.flip()
        # Nobody asks for the other events: they would only fill the queue.
        self.pygame.event.get(exclude=(self.pygame.QUIT, self.pygame.KEYDOWN))
        if fps is not None:
            self.clock.tick(fps)

    def is_closed(self) -> bool:
        """Return at once whether the user has closed the window."""
        return self.pygame.display.get_init() and bool(self.pygame.event.peek(self.pygame.QUIT))

    def key(self) -> str:
        """Wait for the next pressed key and return its name, "quit" if the window was closed."""
        while True:
            event = self.pygame.event.wait()
            if event.type == self.pygame.QUIT:
                return "quit"
            if event.type == self.pygame.KEYDOWN:
                return str(self.pygame.key.name(event.key))

    def close(self) -> None:
        """Close the window; a later `show` opens it again."""
        self.pygame.display.quit()
