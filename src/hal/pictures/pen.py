"""A pen that draws on one cell in unit coordinates, so that a picture is crisp at any size."""

from PIL import Image, ImageDraw

Color = tuple[int, int, int]
Corners = tuple[float, float, float, float]
Place = tuple[float, float, float]
Points = tuple[tuple[float, float], ...]

SUPERSAMPLING = 4
OUTLINE = (38, 34, 40)


class Pen:
    """Draws on one supersampled transparent cell, in unit coordinates; a rim is a dark outline."""

    def __init__(self, size: int) -> None:
        self.scale = size * SUPERSAMPLING
        self.canvas = Image.new("RGBA", (self.scale, self.scale))
        self.draw = ImageDraw.Draw(self.canvas)

    def box(self, corners: Corners, color: Color, radius: float = 0, rim: float = 0) -> None:
        """Fill a rectangle (left, top, right, bottom), its corners rounded by `radius`."""
        left, top, right, bottom = (edge * self.scale for edge in corners)
        pixels = (left, top, right - 1, bottom - 1)  # Pillow fills the last pixel, too
        self.draw.rounded_rectangle(pixels, radius * self.scale, color, OUTLINE, self._width(rim))

    def disc(self, x: float, y: float, radius: float, color: Color, rim: float = 0) -> None:
        """Fill a circle around (x, y)."""
        corners = (x - radius, y - radius, x + radius, y + radius)
        pixels = [edge * self.scale for edge in corners]
        self.draw.ellipse(pixels, color, OUTLINE, self._width(rim))

    def shape(self, points: Points, color: Color, place: Place = (0, 0, 1), rim: float = 0) -> None:
        """Fill a polygon, its points counted from place (x, y, unit)."""
        x, y, unit = (number * self.scale for number in place)
        pixels = [(x + unit * dx, y + unit * dy) for dx, dy in points]
        self.draw.polygon(pixels, color, OUTLINE if rim else None, self._width(rim))

    def line(self, points: Points, color: Color, width: float, rim: float = 0) -> None:
        """Draw a line with round joints and ends."""
        for paint, thick in ((OUTLINE, width), (color, width - 2 * rim)):
            pixels = [(x * self.scale, y * self.scale) for x, y in points]
            self.draw.line(pixels, paint, max(1, self._width(thick)), joint="curve")
            for x, y in (points[0], points[-1]):
                self.disc(x, y, thick / 2, paint)

    def _width(self, units: float) -> int:
        return round(units * self.scale)
